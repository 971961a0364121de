import { createHash, randomBytes, randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";

/** The behaviour of the next sign-in. */
export type Manner = {
  claims: JWTPayload;
  /** The claims of the userinfo endpoint; only the subject if null or absent. */
  userinfo?: JWTPayload | null;
  /** The key that signs the token: the server's own, an unpublished one, or none. */
  signedBy?: "own" | "other" | "nobody";
  /** The code exchange is refused, and the response echoes the whole request. */
  isRefusing?: true;
  /** The state with which the browser is sent back, in place of the request's. */
  state?: string;
};

export const CLIENT = { id: "capstan-test", secret: "a secret of the client" };

/**
 * A real OpenID Connect provider over HTTP: discovery, authorization, PKCE, tokens signed with RS256. It signs everyone in
 * without asking, and can be told to misbehave.
 */
export async function startOidcServer(port = 0, client = CLIENT) {
  const [own, other] = [await generateKeyPair("RS256"), await generateKeyPair("RS256")];
  const jwk = { ...(await exportJWK(own.publicKey)), kid: "one", alg: "RS256", use: "sig" };
  let manner: Manner = { claims: {} };
  const grants = new Map<string, { nonce: string | null; challenge: string | null; redirect: string }>();
  const tokens = new Map<string, JWTPayload>();
  const seen: URL[] = [];
  /** Secrets of every sign-in that no one else may learn. */
  const secrets: { name: string; value: string }[] = [];
  let issuer = "";

  async function sign(claims: JWTPayload): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const whole = { iss: issuer, aud: client.id, iat: now, exp: now + 300, ...claims };
    if (manner.signedBy === "nobody") return new UnsecuredJWT(whole).encode();
    const key = manner.signedBy === "other" ? other.privateKey : own.privateKey;
    return new SignJWT(whole).setProtectedHeader({ alg: "RS256", kid: "one" }).sign(key);
  }

  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? "/", issuer);
    const answer = (status: number, body: unknown) =>
      response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
    if (url.pathname === "/.well-known/openid-configuration")
      return answer(200, {
        issuer,
        authorization_endpoint: `${issuer}/authorize`,
        token_endpoint: `${issuer}/token`,
        userinfo_endpoint: `${issuer}/userinfo`,
        jwks_uri: `${issuer}/jwks`,
        response_types_supported: ["code"],
        subject_types_supported: ["public"],
        id_token_signing_alg_values_supported: ["RS256"],
      });
    if (url.pathname === "/jwks") return answer(200, { keys: [jwk] });
    if (url.pathname === "/authorize") {
      seen.push(url);
      const asked = url.searchParams;
      const code = randomBytes(16).toString("base64url");
      secrets.push({ name: "a code of a sign-in", value: code });
      const redirect = asked.get("redirect_uri") ?? "";
      grants.set(code, { nonce: asked.get("nonce"), challenge: asked.get("code_challenge"), redirect });
      const back = new URL(redirect);
      back.searchParams.set("code", code);
      back.searchParams.set("state", manner.state ?? asked.get("state") ?? "");
      return response.writeHead(302, { location: back.href }).end();
    }
    if (url.pathname === "/token") {
      let text = "";
      for await (const chunk of request) text += chunk;
      const sent = new URLSearchParams(text);
      const grant = grants.get(sent.get("code") ?? "");
      grants.delete(sent.get("code") ?? "");
      const basic = Buffer.from(`${client.id}:${encodeURIComponent(client.secret)}`.replaceAll("%20", "+"));
      const isClient = request.headers.authorization === `Basic ${basic.toString("base64")}`;
      const verifier = createHash("sha256")
        .update(sent.get("code_verifier") ?? "")
        .digest("base64url");
      secrets.push({ name: "a verifier of a sign-in", value: sent.get("code_verifier") ?? "" });
      if (manner.isRefusing)
        return answer(400, {
          error: "invalid_grant",
          error_description: `${request.headers.authorization} ${text}`,
        });
      if (!isClient) return answer(401, { error: "invalid_client" });
      if (!grant || verifier !== grant.challenge || sent.get("redirect_uri") !== grant.redirect)
        return answer(400, { error: "invalid_grant" });
      const claims = { ...(grant.nonce ? { nonce: grant.nonce } : {}), ...manner.claims };
      const accessToken = randomUUID();
      tokens.set(accessToken, manner.userinfo ?? { sub: claims.sub ?? "" });
      const idToken = await sign(claims);
      secrets.push(
        { name: "an access token of a sign-in", value: accessToken },
        { name: "the signature of an identity token", value: idToken.split(".")[2] ?? "" },
      );
      return answer(200, {
        access_token: accessToken,
        token_type: "Bearer",
        expires_in: 300,
        id_token: idToken,
      });
    }
    if (url.pathname === "/userinfo") {
      const known = tokens.get(request.headers.authorization?.replace("Bearer ", "") ?? "");
      return known ? answer(200, known) : answer(401, { error: "invalid_token" });
    }
    return answer(404, {});
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`; // set for a server that listens on TCP
  return {
    issuer,
    /** The last authorization request. */
    asked: () => seen.at(-1),
    secrets,
    signIn(next: Manner) {
      manner = next;
    },
    close: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}
