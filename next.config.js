/** @type {import("next").NextConfig} */
export default {
  poweredByHeader: false,
  reactStrictMode: true,
  // scripts/launch/build.ts sets it; Next chooses a random name without it.
  generateBuildId: () => process.env.CAPSTAN_BUILD_ID ?? null,
  // A navigation that cannot reach the server waits in the panel and is retried; otherwise the browser shows its own error
  // page.
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
  // No other site may frame a page, sniff its type or learn its URL from links. The API and artifacts set their own headers.
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
    // Only an embed's host pages may frame it, and the web process names them; without their names no page may.
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
