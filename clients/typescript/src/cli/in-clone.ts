/* `npm run capstan`: npm starts it in the root of the clone, and files are named from where the command was typed. */
import process from "node:process";

if (process.env.INIT_CWD) process.chdir(process.env.INIT_CWD);
await import("./main");
