import { openImports, sourceFiles } from "./imports";

/** The test files with a long form (testing/campaign.ts): `npm test` runs them short, `npm run test:long` whole. */
export function campaignFiles(): string[] {
  const { importedBy } = openImports(".");
  return sourceFiles(".").filter(
    (file) => /\.test\.tsx?$/.test(file) && importedBy(file).has("testing/campaign.ts"),
  );
}
