const WIDTH = 120;

/**
 * The text of .env.example, made from the page of settings: its sections, and each row of their tables as comment lines and
 * `name=default`.
 */
export function settingsExample(page: string): string {
  const [, ...sections] = page.split("\n## ");
  return [
    "# Every setting with its default, made from docs/reference/settings.md by npm run generate.",
    "# Copy the lines you change into .env. Variables of the environment win over .env. Empty means unset.",
    ...sections.flatMap((section) => {
      const [heading = "", ...lines] = section.split("\n");
      return ["", `# --- ${heading}`, ...lines.flatMap(linesOf)];
    }),
    "",
  ].join("\n");
}

/** Converts a row of the table: name, default, when the setting is required, and its meaning. */
function linesOf(line: string): string[] {
  const [, name, value = "", required = "", meaning = ""] =
    /^\| `([A-Z0-9_]+)` \| (?:–|`([^`]*)`) \| (.*?) \| (.*) \|$/.exec(line) ?? [];
  if (!name) return [];
  const rule = required === "–" ? "" : ` Required ${required}.`;
  return [...wrapped(plain(`${meaning}${rule}`)), `${name}=${value}`];
}

/** Removes markup, and sentences that are only links. */
const plain = (text: string) =>
  text
    .replaceAll(/(?<=\.) \[[^\]]+\]\([^)]*\)\./g, "")
    .replaceAll(/\[([^\]]+)\]\([^)]*\)/g, "$1")
    .replaceAll("`", "");

function wrapped(text: string): string[] {
  const lines = ["#"];
  for (const word of text.split(" ")) {
    const line = `${lines.at(-1)} ${word}`;
    if (line.length <= WIDTH) lines[lines.length - 1] = line;
    else lines.push(`# ${word}`);
  }
  return lines;
}
