/* For `npm run capstan`: npm starts it in the root of the clone, but paths are relative to the caller's folder. */
import process from "node:process";

if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
await import("./main");
