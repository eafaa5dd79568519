package agent;

import java.util.Map;
import java.util.TreeMap;

/** A Page is what one scrape gives: metrics by name, and for each its samples by their labels. */
final class Page {
    private final Map<String, String> heads = new TreeMap<>();
    private final Map<String, Map<String, Double>> samples = new TreeMap<>();

    /** Adds a sample to a metric; labels are names and values in turn. Of two with the same labels the first counts. */
    void add(String name, String type, String help, double value, String... labels) {
        head(name, type, help);
        sample(name, name, value, labels);
    }

    /** Adds how often something happened and how long that took. */
    void addSummary(String name, String help, long count, double sum, String... labels) {
        head(name, "summary", help);
        sample(name, name + "_count", count, labels);
        sample(name, name + "_sum", sum, labels);
    }

    private void head(String name, String type, String help) {
        heads.putIfAbsent(name, "# HELP " + name + " " + escape(help) + "\n# TYPE " + name + " " + type + "\n");
    }

    private void sample(String family, String name, double value, String... labels) {
        StringBuilder key = new StringBuilder(name);
        for (int i = 0; i + 1 < labels.length; i += 2) {
            key.append(i == 0 ? '{' : ',').append(labels[i]).append("=\"");
            key.append(escape(labels[i + 1]).replace("\"", "\\\"")).append('"');
        }
        key.append(labels.length == 0 ? "" : "}");
        samples.computeIfAbsent(family, f -> new TreeMap<>()).putIfAbsent(key.toString(), value);
    }

    private static String escape(String text) {
        return text.replace("\\", "\\\\").replace("\n", "\\n");
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        heads.forEach((name, head) -> {
            text.append(head);
            samples.get(name).forEach((key, value) -> text.append(key).append(' ').append(number(value)).append('\n'));
        });
        return text.toString();
    }

    private static String number(double value) {
        return Double.isInfinite(value) ? value > 0 ? "+Inf" : "-Inf" : Double.toString(value);
    }
}
