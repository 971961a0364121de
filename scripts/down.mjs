import { run } from "./prepare.mjs";

await run("down");
