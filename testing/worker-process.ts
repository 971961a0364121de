/* The worker process, as installations run it, on the database of its environment. */
import "@/server/worker";
