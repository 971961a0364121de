/* `npm run capstan`: npm starts it in the root of the clone, but paths are relative to where the command was typed. */
import process from "node:process";

if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
await import("./main");
