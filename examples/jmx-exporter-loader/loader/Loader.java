package loader;

import java.io.IOException;
import java.net.ConnectException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Loader loads a metrics exporter into the one JVM of the container whose processes it shares, and ends: with 0 when
 * metrics are served, otherwise with a code of {@link Failure}.
 */
public final class Loader {
    private static final int PATIENCE_MS = 20_000;

    private final Settings settings;
    private final Jvm jvm;

    private Loader(Settings settings, Jvm jvm) {
        this.settings = settings;
        this.jvm = jvm;
    }

    public static void main(String[] args) throws Exception {
        try {
            Settings settings = Settings.of(System.getenv());
            Jvm jvm = Jvm.only(Path.of(System.getProperty("loader.proc", "/proc")), settings.patience());
            System.exit(new Loader(settings, jvm).run());
        } catch (Failure e) {
            end(e.code, e.getMessage());
        } catch (IOException e) {
            end(Failure.OTHER, e.toString());
        }
    }

    private static void end(int code, String message) throws IOException {
        System.err.println("jmx-exporter-loader: " + message);
        tellKubernetes(message);
        System.exit(code);
    }

    /** What is written there becomes part of the Pod's status. */
    private static void tellKubernetes(String message) throws IOException {
        Path log = Path.of("/dev/termination-log");
        if (Files.isWritable(log)) {
            Files.writeString(log, message);
        }
    }

    private int run() throws Failure, IOException, InterruptedException {
        if (!jvm.user().equals(Jvm.ownUser())) {
            return runAs(jvm.user());
        }
        if (answers()) {
            if (!loadedBefore()) {
                throw new Failure(Failure.PORT_TAKEN, "port " + settings.port() + " is in use by something else in the Pod");
            }
            say("serves metrics already");
            return 0;
        }
        load();
        say("serves metrics now");
        return 0;
    }

    private void say(String what) {
        System.out.println("jmx-exporter-loader: process " + jvm + " " + what + ", on port " + settings.port() + " for "
                + settings.owner());
    }

    /** A JVM trusts only its own user and root, and old ones only the former: root becomes that user. */
    private int runAs(String user) throws Failure, IOException, InterruptedException {
        if (!Jvm.ownUser().startsWith("0:")) {
            throw new Failure(Failure.NOT_PERMITTED, "not permitted: process " + jvm + " runs as uid:gid " + user
                    + " and the loader as " + Jvm.ownUser() + ": set runAsUser and runAsGroup of the Pod");
        }
        String[] ids = user.split(":");
        List<String> command = new ArrayList<>(List.of("setpriv", "--reuid", ids[0], "--regid", ids[1], "--clear-groups", "--"));
        ProcessHandle.Info own = ProcessHandle.current().info();
        command.add(own.command().orElseThrow());
        command.addAll(List.of(own.arguments().orElseThrow()));
        int code = new ProcessBuilder(command).inheritIO().start().waitFor();
        if (code == 127) {
            throw new Failure(Failure.NOT_PERMITTED, "not permitted to become uid:gid " + user + " of process " + jvm
                    + ": set runAsUser and runAsGroup of the Pod");
        }
        return code;
    }

    private void load() throws Failure, IOException, InterruptedException {
        Path directory = Files.createTempDirectory(jvm.tmp(), prefix());
        String seen = "/tmp/" + directory.getFileName();
        boolean loaded = false;
        try {
            Files.copy(agent(), directory.resolve("agent.jar"));
            Files.writeString(directory.resolve("config.yaml"), settings.config());
            new Attach(jvm).load(seen + "/agent.jar", settings.arguments(seen + "/config.yaml"));
            loaded = true;
        } finally {
            if (!loaded) {
                Files.deleteIfExists(directory.resolve("agent.jar"));
                Files.deleteIfExists(directory.resolve("config.yaml"));
                Files.deleteIfExists(directory);
            }
        }
        for (int waited = 0; !answers(); waited += 100) {
            if (waited > PATIENCE_MS) {
                throw new Failure(Failure.AGENT, "the agent was loaded, but serves no metrics on port " + settings.port());
            }
            Thread.sleep(100);
        }
    }

    private String prefix() {
        return "jmx-exporter-" + settings.port() + "-";
    }

    /** The agent's jar lies beside the loader's. */
    private static Path agent() throws IOException {
        URI own;
        try {
            own = Loader.class.getProtectionDomain().getCodeSource().getLocation().toURI();
        } catch (java.net.URISyntaxException e) {
            throw new IOException(e);
        }
        return Path.of(own).resolveSibling("agent.jar");
    }

    /** What an earlier loader left in the JVM's /tmp tells its agent from whatever else may listen. */
    private boolean loadedBefore() throws Failure, IOException {
        try (DirectoryStream<Path> left = Files.newDirectoryStream(jvm.tmp(), prefix() + "*")) {
            return left.iterator().hasNext();
        }
    }

    /** Whether something listens on the port. */
    private boolean answers() throws Failure, IOException {
        String host = settings.host().isEmpty() ? "127.0.0.1" : settings.host();
        HttpURLConnection connection = (HttpURLConnection) URI.create("http://" + host + ":" + settings.port() + "/metrics").toURL().openConnection();
        connection.setConnectTimeout(PATIENCE_MS);
        connection.setReadTimeout(PATIENCE_MS);
        try {
            if (connection.getResponseCode() == 200) {
                return true;
            }
            throw new Failure(Failure.PORT_TAKEN, "port " + settings.port() + " is in use by something that serves no metrics");
        } catch (ConnectException e) {
            return false;
        } catch (IOException e) {
            throw new Failure(Failure.PORT_TAKEN, "port " + settings.port() + " is in use by something that serves no metrics");
        } finally {
            connection.disconnect();
        }
    }
}
