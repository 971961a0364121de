import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { buildId } from "./build";

test("a build is named by its commit, plus a hash if its sources differ, or by the hash alone without a repository", () => {
  const clone = mkdtempSync(join(tmpdir(), "capstan-build-"));
  const before = process.cwd();
  const git = (...args: string[]) =>
    execFileSync("git", ["-c", "user.name=Test", "-c", "user.email=test@example.com", ...args], {
      cwd: clone,
      encoding: "utf8",
    }).trim();
  try {
    process.chdir(clone);
    mkdirSync("server");
    writeFileSync("server/web.ts", "one");
    const bare = buildId();
    expect(bare).toMatch(/^[0-9a-f]{12}$/);
    git("init", "--quiet");
    git("add", ".");
    git("commit", "--quiet", "--message", "One");
    const commit = git("rev-parse", "--short=12", "HEAD");
    expect(buildId()).toBe(commit);
    writeFileSync("README.md", "not a source");
    expect(buildId()).toBe(commit);
    writeFileSync("server/web.ts", "two");
    expect(buildId()).toMatch(new RegExp(`^${commit}-[0-9a-f]{12}$`));
    writeFileSync("server/web.ts", "one");
    expect(buildId()).toBe(commit);
    expect(buildId()).not.toBe(bare);
  } finally {
    process.chdir(before);
    rmSync(clone, { recursive: true });
  }
});
