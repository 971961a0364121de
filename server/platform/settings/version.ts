import packageJson from "@/package.json" with { type: "json" };

/** The version of this build, as every answer and the OpenAPI document tell it. */
export const VERSION: string = packageJson.version;
