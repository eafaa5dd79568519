package agent;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.management.MalformedObjectNameException;
import javax.management.ObjectName;

/**
 * A Config says which MBeans are shown. It is the small part of the well-known exporter's configuration that can be read
 * without a YAML parser: keys at the left margin, and lists in dashes or on one line in brackets. Keys that it does not
 * know are passed over, with a note in the JVM's log.
 */
final class Config {
    /** An item of a list in brackets. */
    private static final Pattern ITEM = Pattern.compile("\"(?:[^\"\\\\]|\\\\.)*\"|'(?:[^']|'')*'|[^\\s,\\[\\]][^,\\]]*");

    boolean lowercase;
    final List<ObjectName> included = new ArrayList<>();
    final List<ObjectName> excluded = new ArrayList<>();
    /** An attribute is shown if one of them matches; if there are none, in any case. */
    final List<Pattern> rules = new ArrayList<>();

    private String key = "";

    static Config parse(List<String> lines) {
        Config config = new Config();
        for (String line : lines) {
            String text = line.replaceFirst("(^|\\s)#.*$", "");
            if (!text.trim().isEmpty() && !text.trim().equals("---")) {
                config.take(text);
            }
        }
        return config;
    }

    private void take(String line) {
        String text = line.trim();
        if (text.startsWith("- ") || Character.isWhitespace(line.charAt(0))) {
            item(text.replaceFirst("^-\\s+", ""));
            return;
        }
        int colon = text.indexOf(':');
        key = colon < 0 ? text : text.substring(0, colon);
        String value = colon < 0 ? "" : text.substring(colon + 1).trim();
        if (key.equals("lowercaseOutputName")) {
            lowercase = value.equals("true");
        } else if (names() == null && !key.equals("rules")) {
            note(key);
        } else {
            for (Matcher items = ITEM.matcher(value); items.find();) {
                item(items.group());
            }
        }
    }

    private void item(String item) {
        if (names() != null) {
            names().add(name(unquoted(item)));
        } else if (key.equals("rules") && item.startsWith("pattern:")) {
            rules.add(Pattern.compile(unquoted(item.substring("pattern:".length()))));
        } else if (key.equals("rules") && item.contains(":")) {
            note("rules." + item.substring(0, item.indexOf(':')));
        }
    }

    /** The list that the items of the key at hand belong to, if they are names of MBeans. */
    private List<ObjectName> names() {
        switch (key) {
            case "includeObjectNames":
            case "whitelistObjectNames":
                return included;
            case "excludeObjectNames":
            case "blacklistObjectNames":
                return excluded;
            default:
                return null;
        }
    }

    private static ObjectName name(String text) {
        try {
            return new ObjectName(text);
        } catch (MalformedObjectNameException e) {
            throw new IllegalArgumentException("the configuration names MBeans by " + text + ": " + e.getMessage());
        }
    }

    private static String unquoted(String text) {
        text = text.trim();
        if (text.startsWith("\"")) {
            return text.replaceAll("^\"|\"$", "").replace("\\\\", "\\").replace("\\\"", "\"");
        }
        return text.replaceAll("^'|'$", "").replace("''", "'");
    }

    private static void note(String key) {
        System.err.println("jmx-exporter: passing over " + key + " of the configuration, which this agent does not know");
    }

    boolean shows(ObjectName bean) {
        return (included.isEmpty() || included.stream().anyMatch(n -> n.apply(bean))) && excluded.stream().noneMatch(n -> n.apply(bean));
    }

    /** Whether an attribute is shown; it is written as domain&lt;key=value, …&gt;&lt;&gt;attribute: value. */
    boolean shows(String attribute) {
        return rules.isEmpty() || rules.stream().anyMatch(r -> r.matcher(attribute).find());
    }
}
