import { run } from "./prepare.mjs";

await run("buildOnly");
