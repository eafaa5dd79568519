package agent;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.instrument.Instrumentation;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Agent serves metrics of the JVM that it is loaded into at /metrics, in the text format of Prometheus. */
public final class Agent {
    private static final Pattern ARGUMENTS = Pattern.compile("(?:([\\w.-]+|\\[.+]):)?(\\d{1,5}):(.+)");

    private final Config config;

    private Agent(Config config) {
        this.config = config;
    }

    /** Begins to serve; arguments are [host:]port:path, the path that of the configuration. */
    public static void agentmain(String arguments, Instrumentation unused) throws IOException {
        Matcher m = ARGUMENTS.matcher(arguments);
        if (!m.matches()) {
            throw new IllegalArgumentException("the arguments must be [host:]port:path");
        }
        Config config = Config.parse(Files.readAllLines(Paths.get(m.group(3)), StandardCharsets.UTF_8));
        int port = Integer.parseInt(m.group(2));
        HttpServer server = HttpServer.create(m.group(1) == null ? new InetSocketAddress(port)
                : new InetSocketAddress(InetAddress.getByName(m.group(1)), port), 3);
        server.createContext("/metrics", new Agent(config)::serve);
        // Threads that do not keep the JVM alive; its own is made by a thread of the JVM that is such a one.
        server.setExecutor(Executors.newFixedThreadPool(2, task -> {
            Thread thread = new Thread(task, "jmx-exporter");
            thread.setDaemon(true);
            return thread;
        }));
        server.start();
    }

    private void serve(HttpExchange exchange) throws IOException {
        try {
            Page page = new Page();
            Platform.write(page);
            Beans.write(page, config);
            byte[] body = page.toString().getBytes(StandardCharsets.UTF_8);
            exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
            exchange.sendResponseHeaders(200, body.length);
            try (OutputStream out = exchange.getResponseBody()) {
                out.write(body);
            }
        } finally {
            exchange.close();
        }
    }
}
