package agent;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import javax.management.JMException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;

/**
 * Beans writes the numbers and truths among the attributes of MBeans. They are named as the well-known exporter does
 * without rules: by domain, value of the first property, attribute and key, with the other properties as labels.
 */
final class Beans {
    private final Page page;
    private final Config config;
    private final String text;
    private final String prefix;
    private final String[] labels;

    private Beans(Page page, Config config, ObjectName bean) {
        this.page = page;
        this.config = config;
        List<String> keys = keys(bean);
        List<String> properties = new ArrayList<>();
        List<String> rest = new ArrayList<>();
        for (String key : keys) {
            properties.add(key + "=" + bean.getKeyProperty(key));
            if (!key.equals(keys.get(0))) {
                rest.add(name(key));
                rest.add(value(bean, key));
            }
        }
        this.text = bean.getDomain() + "<" + String.join(", ", properties) + "><>";
        this.prefix = bean.getDomain() + "_" + value(bean, keys.get(0));
        this.labels = rest.toArray(new String[0]);
    }

    static void write(Page page, Config config) {
        MBeanServer server = ManagementFactory.getPlatformMBeanServer();
        for (ObjectName bean : server.queryNames(null, null)) {
            if (!config.shows(bean)) {
                continue;
            }
            try {
                Beans beans = new Beans(page, config, bean);
                for (MBeanAttributeInfo attribute : server.getMBeanInfo(bean).getAttributes()) {
                    beans.attribute(server, bean, attribute);
                }
            } catch (JMException e) {
                continue; // the bean went away
            }
        }
    }

    private void attribute(MBeanServer server, ObjectName bean, MBeanAttributeInfo attribute) {
        try {
            if (attribute.isReadable()) {
                add(attribute.getName(), server.getAttribute(bean, attribute.getName()));
            }
        } catch (JMException | RuntimeException e) {
            return; // many beans have attributes that the JVM does not support
        }
    }

    private void add(String path, Object value) {
        if (value instanceof CompositeData) {
            CompositeData data = (CompositeData) value;
            for (String key : data.getCompositeType().keySet()) {
                add(path + "_" + key, data.get(key));
            }
        } else if ((value instanceof Number || value instanceof Boolean) && config.shows(text + path + ": " + value)) {
            String name = name(prefix + "_" + path);
            page.add(config.lowercase ? name.toLowerCase(Locale.ROOT) : name, "untyped", "An attribute of MBeans.",
                    value instanceof Boolean ? (Boolean) value ? 1 : 0 : ((Number) value).doubleValue(), labels);
        }
    }

    /** The keys of a bean's properties in the order in which they were written. */
    private static List<String> keys(ObjectName bean) {
        String written = "," + bean.getKeyPropertyListString();
        List<String> keys = new ArrayList<>(bean.getKeyPropertyList().keySet());
        keys.sort(Comparator.comparingInt(key -> written.indexOf("," + key + "=")));
        return keys;
    }

    private static String value(ObjectName bean, String key) {
        String value = bean.getKeyProperty(key);
        return value.startsWith("\"") ? ObjectName.unquote(value) : value;
    }

    private static String name(String text) {
        String name = text.replaceAll("[^a-zA-Z0-9_]", "_");
        return Character.isDigit(name.charAt(0)) ? "_" + name : name;
    }
}
