import { faultsOfLists } from "@/server/laws/lists";
import { faultsOfShape } from "@/server/laws/shape";

const faults = [...faultsOfShape(process.cwd()), ...faultsOfLists(process.cwd())];
for (const fault of faults) console.error(fault);
process.exitCode = faults.length > 0 ? 1 : 0;
