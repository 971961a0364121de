import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, onTestFinished, test } from "vitest";
import { cpuBelow } from "./processes";

const SPENT_MICROS = 150_000;
const SPEND = `while (process.cpuUsage().user < ${SPENT_MICROS});`;
const CALLED_POSTGRES = `process.title = "postgres"; process.on("disconnect", process.exit); ${SPEND} process.send("spent");`;
const PARENT = `
  const { spawn, spawnSync } = require("node:child_process");
  spawnSync(process.execPath, ["-e", ${JSON.stringify(SPEND)}]);
  const child = spawn(process.execPath, ["-e", process.argv[1]], { stdio: ["ignore", "ignore", "ignore", "ipc"] });
  child.on("message", () => process.send("spent"));
  process.on("disconnect", process.exit);`;

test.skipIf(process.platform !== "linux")(
  "cpuBelow includes children that ended, and returns PostgreSQL's CPU time separately",
  async () => {
    const parent = spawn(process.execPath, ["-e", PARENT, CALLED_POSTGRES], {
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    onTestFinished(() => parent.disconnect());
    await once(parent, "message");
    const { postgres, others } = cpuBelow(parent.pid!); // it has sent a message
    for (const spent of [postgres, others]) expect(spent).toBeGreaterThan(SPENT_MICROS * 0.9);
  },
);
