/*
 * Preloaded into each process that the launcher starts. When the launcher ends, even by SIGKILL, the channel to it closes
 * and the process ends as if it was asked to, so that nothing is left that holds a port or a lease.
 */
process.on("disconnect", () => process.kill(process.pid, "SIGTERM"));
process.channel?.unref();
