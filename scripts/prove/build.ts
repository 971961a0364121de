import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/*
 * npm run prove:build -- CHECKOUT CHECKOUT shows that two builds of one commit are equal but for the files below. Exits 1 if
 * another file differs or is missing in one of them.
 */

/** Files that Next draws anew, measures, or writes with the name of the checkout's folder; none of them is served. */
const MAY_DIFFER: [RegExp, string][] = [
  [/^\.next\/(prerender-manifest|server\/preview-props)\.json$/, "keys of previews, drawn for each build"],
  [/^\.next\/server\/server-reference-manifest\.(js|json)$/, "key of server actions, drawn for each build"],
  [/^\.next\/required-server-files\.(js|json)$/, "the checkout's folder"],
  [/\.nft\.json$/, "lists of the files that lie in the checkout"],
  [/^\.next\/trace(-build)?$|^dist\/next-build\.log$/, "times"],
  [/^\.next\/(cache|types|diagnostics)\/|^\.next\/server\/route-cache\//, "caches"],
];

const hashesOf = (checkout: string) =>
  new Map(
    [".next", "dist"].flatMap((folder) =>
      readdirSync(join(checkout, folder), { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
        .map((path): [string, string] => [
          path.slice(checkout.length + 1),
          createHash("sha256").update(readFileSync(path)).digest("hex"),
        ]),
    ),
  );

const [one, other] = process.argv.slice(2).map((path) => join(path));
if (!one || !other) throw new Error("Name two checkouts of one commit that are built.");
const [first, second] = [hashesOf(one), hashesOf(other)];
const different = [...new Set([...first.keys(), ...second.keys()])].filter(
  (path) => first.get(path) !== second.get(path),
);
const broken = different.filter((path) => !MAY_DIFFER.some(([paths]) => paths.test(path)));
for (const path of broken) console.log(`BROKEN ${path} differs`);
for (const [paths, why] of MAY_DIFFER)
  console.log(`${String(different.filter((path) => paths.test(path)).length).padStart(6)} differ: ${why}`);
const equal = [...first].filter(([path, hash]) => second.get(path) === hash);
console.log(`${String(equal.length).padStart(6)} files are equal`);
if (broken.length > 0) process.exitCode = 1;
