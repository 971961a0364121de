import packageJson from "@/package.json" with { type: "json" };

/** The version of this build, as answers and the OpenAPI document report it. */
export const VERSION: string = packageJson.version;
