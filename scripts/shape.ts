import { figuresOfExecutions } from "@/server/laws/figures";
import { faultsOfLists } from "@/server/laws/lists";
import { faultsOfShape } from "@/server/laws/shape";

const root = process.cwd();
const [option, ...more] = process.argv.slice(2);

if (more.length > 0 || (option !== undefined && option !== "--figures")) {
  console.error("scripts/shape.ts takes no argument, or --figures alone.");
  process.exitCode = 2;
} else if (option) {
  const { files, lines, ends } = figuresOfExecutions(root);
  console.log(`files of executions, jobs and pins: ${files}, lines: ${lines} (tests left out)`);
  console.log(`types of how an execution ends: ${ends.length}\n${ends.map((end) => `  ${end}`).join("\n")}`);
} else {
  const faults = [...faultsOfShape(root), ...faultsOfLists(root)];
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length > 0 ? 1 : 0;
}
