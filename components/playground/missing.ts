import type { FieldIssue } from "@/components/data/trpc";
import { type Field, fieldOf, type InputSchema, type Path, singularOf, variantOf } from "./schema";

/** The type of an issue that only a file can resolve. */
const FILE = "file_missing";

/** The required values an input lacks, by path, so that they are reported before anything is sent. */
export const missingIn = (input: unknown, schema: InputSchema): FieldIssue[] =>
  lackOf({ kind: "object", schema }, input, { path: [], isRequired: true, root: schema });

/** True if a file of the reader's own is missing. */
export const isFileMissing = (missing: readonly FieldIssue[]) => missing.some(({ type }) => type === FILE);

function lackOf(
  field: Field,
  value: unknown,
  { path, isRequired, root }: { path: Path; isRequired: boolean; root: InputSchema },
): FieldIssue[] {
  if (value === undefined) return isRequired ? [issueOf(field, path)] : [];
  switch (field.kind) {
    case "text":
      return value === "" && (field.schema.minLength ?? 0) > 0 ? [issueOf(field, path)] : [];
    case "artifact":
    case "file":
      return value === "" ? [issueOf(field, path)] : [];
    case "object": {
      if (typeof value !== "object" || value === null) return [];
      const values = value as Record<string, unknown>; // the line above ensures an object
      return Object.entries(field.schema.properties ?? {}).flatMap(([name, each]) =>
        lackOf(fieldOf(name, each, root), values[name], {
          path: [...path, name],
          isRequired: field.schema.required?.includes(name) ?? false,
          root,
        }),
      );
    }
    case "list": {
      if (!Array.isArray(value)) return [];
      const least = field.schema.minItems ?? 0;
      const name = singularOf(nameAt(path));
      const few = value.length < least ? [{ loc: path, msg: `At least ${least}.`, type: "missing" }] : [];
      return [
        ...few,
        ...value.flatMap((entry, place) =>
          lackOf(fieldOf(name, field.items, root), entry, { path: [...path, place], isRequired: true, root }),
        ),
      ];
    }
    case "variants": {
      const variant = field.variants[variantOf(value, field.variants)];
      return variant ? lackOf(fieldOf(nameAt(path), variant, root), value, { path, isRequired, root }) : [];
    }
    default:
      return [];
  }
}

const nameAt = (path: Path) => String(path.findLast((step) => typeof step === "string") ?? "");

function issueOf({ kind }: Field, loc: Path): FieldIssue {
  if (kind === "artifact") return { loc, msg: "Choose an artifact of this project.", type: FILE };
  if (kind === "file") return { loc, msg: "Choose a file.", type: FILE };
  return { loc, msg: kind === "text" ? "This cannot be empty." : "This is required.", type: "missing" };
}
