package loader;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Attach speaks HotSpot's attach protocol. The client leaves a file .attach_pid in the JVM's /tmp and sends SIGQUIT; the
 * JVM then listens on the socket .java_pid beside it, takes texts that end in NUL (version, command, three arguments),
 * and answers with a line that is 0 if it understood, and the command's own output.
 *
 * <p>com.sun.tools.attach does the same, but up to Java 22 it looks for these files in its own /tmp when both processes
 * share process ids, which is just how it is with an ephemeral container; and it needs a JDK, where a runtime of
 * java.base alone is enough for this.
 */
final class Attach {
    private static final int PATIENCE_MS = 10_000;

    private final Jvm jvm;

    Attach(Jvm jvm) {
        this.jvm = jvm;
    }

    /** Loads an agent into the JVM; jar is a path as the JVM sees it. */
    void load(String jar, String arguments) throws Failure, IOException, InterruptedException {
        String answer = ask(socket(), "load", "instrument", "false", jar + "=" + arguments);
        // Since Java 9 the second line has words before its number.
        if (!answer.matches("(?s)0\n(return code: )?0\\s*")) {
            throw new Failure(Failure.AGENT, "the JVM of process " + jvm + " did not load the agent (the log of its container"
                    + " may tell why): " + answer.strip().replace("\n", ", "));
        }
    }

    private Path socket() throws Failure, IOException, InterruptedException {
        Path socket = jvm.tmp().resolve(".java_pid" + jvm.innerPid());
        if (Files.exists(socket)) {
            return socket;
        }
        Path request = jvm.tmp().resolve(".attach_pid" + jvm.innerPid());
        Files.deleteIfExists(request);
        Files.createFile(request);
        try {
            quit();
            for (int waited = 0; waited < PATIENCE_MS; waited += 100) {
                if (Files.exists(socket)) {
                    return socket;
                }
                Thread.sleep(100);
            }
        } finally {
            Files.deleteIfExists(request);
        }
        throw new Failure(Failure.NO_ANSWER, "the JVM of process " + jvm + " does not answer: is it a HotSpot JVM,"
                + " and was it started without -XX:+DisableAttachMechanism?");
    }

    /** Java itself can only send SIGTERM and SIGKILL. */
    private void quit() throws Failure, IOException, InterruptedException {
        int code = new ProcessBuilder("sh", "-c", "kill -QUIT \"$0\"", jvm.toString()).inheritIO().start().waitFor();
        if (code != 0) {
            throw new Failure(Failure.NOT_PERMITTED, "not permitted to signal process " + jvm);
        }
    }

    private static String ask(Path socket, String... words) throws IOException {
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(socket));
            ByteBuffer request = StandardCharsets.UTF_8.encode("1\0" + String.join("\0", words) + "\0");
            while (request.hasRemaining()) {
                channel.write(request);
            }
            ByteArrayOutputStream answer = new ByteArrayOutputStream();
            ByteBuffer part = ByteBuffer.allocate(4096);
            while (channel.read(part) >= 0) {
                answer.write(part.array(), 0, part.position());
                part.clear();
            }
            return answer.toString(StandardCharsets.UTF_8);
        }
    }
}
