package loader;

import java.time.Duration;
import java.util.Map;

/**
 * Settings are what the environment says: the port on which metrics shall be served, the address to serve them on (""
 * is every one), the text of the exporter's configuration, whom the loader works for, and how long to wait for a JVM.
 */
record Settings(int port, String host, String config, String owner, Duration patience) {
    static Settings of(Map<String, String> environment) throws Failure {
        String config = environment.get("JMX_EXPORTER_CONFIG");
        if (config == null) {
            throw new Failure(Failure.SETTINGS, "JMX_EXPORTER_CONFIG is not set: it holds the exporter's configuration");
        }
        return new Settings(number(environment, "JMX_EXPORTER_PORT", null, 1, 65535),
                environment.getOrDefault("JMX_EXPORTER_HOST", ""), config,
                environment.getOrDefault("JMX_EXPORTER_OWNER", "nobody"),
                Duration.ofSeconds(number(environment, "JMX_EXPORTER_WAIT", "300", 0, 86400)));
    }

    private static int number(Map<String, String> environment, String name, String otherwise, int min, int max) throws Failure {
        String value = environment.getOrDefault(name, otherwise);
        if (value == null || !value.matches("[0-9]{1,5}") || Integer.parseInt(value) < min || Integer.parseInt(value) > max) {
            throw new Failure(Failure.SETTINGS, name + " must be a whole number from " + min + " to " + max);
        }
        return Integer.parseInt(value);
    }

    /** The arguments of the agent, as the well-known one takes them: [host:]port:path. */
    String arguments(String configPath) {
        return (host.isEmpty() ? "" : host + ":") + port + ":" + configPath;
    }
}
