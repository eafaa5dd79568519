package loader;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A Jvm is a running Java process as /proc tells of it. Its own container has another root than the loader's, so its
 * files are reached by way of its directory in /proc.
 */
final class Jvm {
    private static final int SIGQUIT = 1 << 2;

    final long pid;
    private final Path directory;

    private Jvm(Path directory) {
        this.directory = directory;
        this.pid = Long.parseLong(directory.getFileName().toString());
    }

    /** Waits until there is exactly one JVM beside the loader, and it takes requests. */
    static Jvm only(Path proc, Duration wait) throws Failure, IOException, InterruptedException {
        long end = System.nanoTime() + wait.toNanos();
        while (true) {
            List<Jvm> all = all(proc);
            if (all.size() == 1 && all.get(0).takesRequests()) {
                return all.get(0);
            }
            if (System.nanoTime() >= end) {
                throw wrong(all, wait);
            }
            Thread.sleep(200);
        }
    }

    private static Failure wrong(List<Jvm> all, Duration wait) {
        String waited = " (waited " + wait.toSeconds() + " s)";
        if (all.isEmpty()) {
            return new Failure(Failure.NO_JVM, "no JVM found among the processes of the target container" + waited);
        }
        if (all.size() > 1) {
            return new Failure(Failure.SEVERAL_JVMS, "several JVMs found, of processes " + all
                    + ", and only one can be served" + waited);
        }
        return new Failure(Failure.NO_ANSWER, "the JVM of process " + all + " does not listen to SIGQUIT, by which"
                + " attaching begins: was it started with -Xrs?" + waited);
    }

    /** All JVMs but the loader and the processes that started it. */
    private static List<Jvm> all(Path proc) throws IOException {
        Set<Long> own = new HashSet<>();
        for (ProcessHandle p = ProcessHandle.current(); p != null; p = p.parent().orElse(null)) {
            own.add(p.pid());
        }
        List<Jvm> found = new ArrayList<>();
        try (var entries = Files.newDirectoryStream(proc, "[0-9]*")) {
            for (Path entry : entries) {
                Jvm jvm = new Jvm(entry);
                if (!own.contains(jvm.pid) && jvm.isJava()) {
                    found.add(jvm);
                }
            }
        }
        return found;
    }

    private boolean isJava() {
        try {
            String command = Files.readString(directory.resolve("cmdline"), StandardCharsets.ISO_8859_1);
            if (command.isEmpty()) {
                return false; // of the kernel, or a process that has ended
            }
            if (isJava(command.substring(0, (command + '\0').indexOf('\0')))) {
                return true;
            }
            // Started under another name. Only the same user may see this.
            return isJava(Files.readSymbolicLink(directory.resolve("exe")).toString());
        } catch (IOException e) {
            return false; // ended meanwhile, or somebody else's
        }
    }

    private static boolean isJava(String program) {
        return program.substring(program.lastIndexOf('/') + 1).equals("java");
    }

    /** Whether SIGQUIT is caught. A JVM that does not, or not yet, would die of it. */
    private boolean takesRequests() {
        try {
            String caught = status(directory).getOrDefault("SigCgt", "0");
            return (Long.parseUnsignedLong(caught, 16) & SIGQUIT) != 0;
        } catch (IOException e) {
            return false;
        }
    }

    /** The process id as the JVM itself knows it. */
    String innerPid() throws IOException {
        String[] pids = status(directory).getOrDefault("NSpid", Long.toString(pid)).split("\\s+");
        return pids[pids.length - 1];
    }

    /** The effective user and group, as "uid:gid". */
    String user() throws IOException {
        return user(directory);
    }

    static String ownUser() throws IOException {
        return user(Path.of("/proc/self"));
    }

    private static String user(Path directory) throws IOException {
        Map<String, String> status = status(directory);
        return status.get("Uid").split("\\s+")[1] + ":" + status.get("Gid").split("\\s+")[1];
    }

    /** The JVM's /tmp, by which attaching goes whatever java.io.tmpdir says. */
    Path tmp() throws Failure {
        Path tmp = directory.resolve("root/tmp");
        if (!Files.exists(directory.resolve("root/."))) {
            throw new Failure(Failure.NOT_PERMITTED, "not permitted to reach the files of process " + pid
                    + ": it has capabilities that the loader has not");
        }
        // A link would lead into the loader's own files.
        if (Files.isSymbolicLink(tmp) || !Files.isWritable(tmp)) {
            throw new Failure(Failure.NOT_PERMITTED, "the /tmp of process " + pid
                    + " cannot be written, and no JVM takes requests without: mount an emptyDir there");
        }
        return tmp;
    }

    private static Map<String, String> status(Path directory) throws IOException {
        Map<String, String> fields = new HashMap<>();
        for (String line : Files.readAllLines(directory.resolve("status"))) {
            int colon = line.indexOf(':');
            if (colon > 0) {
                fields.put(line.substring(0, colon), line.substring(colon + 1).trim());
            }
        }
        return fields;
    }

    @Override
    public String toString() {
        return Long.toString(pid);
    }
}
