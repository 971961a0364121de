/*
 * Loaded before each process that the launcher starts. When the launcher is gone, killed even, the channel to it
 * closes, and the process ends as if it had been asked to: nothing is left behind that holds a port or a lease.
 */
process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
process.channel?.unref();
