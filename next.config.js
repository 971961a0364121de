/** @type {import("next").NextConfig} */
export default {
  poweredByHeader: false,
  reactStrictMode: true,
  // Named by scripts/launch/build.ts; a random name where Next builds on its own.
  generateBuildId: () => process.env.CAPSTAN_BUILD_ID ?? null,
  // A navigation that cannot reach the server waits in the panel and is retried; else the browser shows its own error page.
  experimental: { useOffline: true },
  // Native and worker-thread packages are loaded by Node itself, never bundled.
  serverExternalPackages: [
    "pg",
    "@node-rs/argon2",
    "sharp",
    "@napi-rs/canvas",
    "pino",
    "js-tiktoken",
    "graphile-worker",
    "inngest",
    "undici",
  ],
  // No other site may frame a page, guess types or learn addresses from links; the API and artifacts bring their own.
  headers: async () => [
    {
      source: "/((?!v1/|artifacts/|\\.well-known/|openapi.json|healthz|readyz|embed$).*)",
      headers: [
        { key: "x-content-type-options", value: "nosniff" },
        { key: "x-frame-options", value: "DENY" },
        { key: "referrer-policy", value: "same-origin" },
        {
          key: "content-security-policy",
          value: "frame-ancestors 'none'; base-uri 'self'; object-src 'none'; form-action 'self'",
        },
      ],
    },
    // A panel's page is framed by its hosts alone, whom the web process names; without it nobody frames it.
    {
      source: "/embed",
      headers: [
        { key: "x-content-type-options", value: "nosniff" },
        { key: "referrer-policy", value: "no-referrer" },
      ],
    },
    {
      source: "/embed",
      missing: [{ type: "header", key: "x-capstan-framed" }],
      headers: [
        { key: "x-frame-options", value: "DENY" },
        {
          key: "content-security-policy",
          value: "frame-ancestors 'none'; base-uri 'self'; object-src 'none'; form-action 'self'",
        },
      ],
    },
  ],
  typescript: { ignoreBuildErrors: true }, // `npm run check` is the type check; the build does not repeat it
};
