/** Dummyapp does nothing, in a JVM whose metrics can be asked for. */
public final class Dummyapp {
    private Dummyapp() {
    }

    public static void main(String[] args) throws InterruptedException {
        System.out.println("ready");
        Thread.sleep(Long.MAX_VALUE);
    }
}
