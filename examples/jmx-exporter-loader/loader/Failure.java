package loader;

/** A Failure ends the loader: a message for people, and the exit code that stands for its reason. */
final class Failure extends Exception {
    static final int OTHER = 1;
    static final int SETTINGS = 2;
    static final int NO_JVM = 3;
    static final int SEVERAL_JVMS = 4;
    static final int NOT_PERMITTED = 5;
    static final int PORT_TAKEN = 6;
    static final int NO_ANSWER = 7;
    static final int AGENT = 8;

    private static final long serialVersionUID = 1;

    final int code;

    Failure(int code, String message) {
        super(message);
        this.code = code;
    }
}
