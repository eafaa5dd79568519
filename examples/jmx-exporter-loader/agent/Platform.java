package agent;

import java.lang.management.ClassLoadingMXBean;
import java.lang.management.GarbageCollectorMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryUsage;
import java.lang.management.RuntimeMXBean;
import java.lang.management.ThreadMXBean;

/** Platform writes what every JVM has: memory, threads, garbage collection, classes and time. */
final class Platform {
    private Platform() {
    }

    static void write(Page page) {
        memory(page);
        threads(page);
        for (GarbageCollectorMXBean gc : ManagementFactory.getGarbageCollectorMXBeans()) {
            page.addSummary("jvm_gc_collection_seconds", "Time spent in a garbage collector.",
                    gc.getCollectionCount(), gc.getCollectionTime() / 1e3, "gc", gc.getName());
        }
        ClassLoadingMXBean classes = ManagementFactory.getClassLoadingMXBean();
        page.add("jvm_classes_currently_loaded", "gauge", "Classes that are loaded.", classes.getLoadedClassCount());
        page.add("jvm_classes_loaded_total", "counter", "Classes loaded since the start.", classes.getTotalLoadedClassCount());
        page.add("jvm_classes_unloaded_total", "counter", "Classes unloaded since the start.", classes.getUnloadedClassCount());
        RuntimeMXBean runtime = ManagementFactory.getRuntimeMXBean();
        page.add("process_start_time_seconds", "gauge", "When the JVM started, in seconds since 1970.", runtime.getStartTime() / 1e3);
        page.add("jvm_uptime_seconds", "gauge", "How long the JVM has run.", runtime.getUptime() / 1e3);
    }

    private static void memory(Page page) {
        usage(page, "jvm_memory", ManagementFactory.getMemoryMXBean().getHeapMemoryUsage(), "area", "heap");
        usage(page, "jvm_memory", ManagementFactory.getMemoryMXBean().getNonHeapMemoryUsage(), "area", "nonheap");
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            MemoryUsage usage = pool.getUsage();
            if (usage != null) {
                usage(page, "jvm_memory_pool", usage, "pool", pool.getName());
            }
        }
    }

    private static void usage(Page page, String prefix, MemoryUsage usage, String... labels) {
        page.add(prefix + "_used_bytes", "gauge", "Memory in use.", usage.getUsed(), labels);
        page.add(prefix + "_committed_bytes", "gauge", "Memory that the system has given.", usage.getCommitted(), labels);
        page.add(prefix + "_max_bytes", "gauge", "Memory that there can be, -1 if nothing bounds it.", usage.getMax(), labels);
    }

    private static void threads(Page page) {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        page.add("jvm_threads_current", "gauge", "Threads that live.", threads.getThreadCount());
        page.add("jvm_threads_daemon", "gauge", "Threads that live and do not keep the JVM alive.", threads.getDaemonThreadCount());
        page.add("jvm_threads_peak", "gauge", "The most threads that ever lived at once.", threads.getPeakThreadCount());
        page.add("jvm_threads_started_total", "counter", "Threads started since the start.", threads.getTotalStartedThreadCount());
    }
}
