import type { NextApiRequest, NextApiResponse } from "next";
import NextAuth from "next-auth";
import { claimsOf, pendingOf } from "@/server/auth/claims";
import { SESSION_COOKIE } from "@/server/auth/cookies";
import { authOptions } from "@/server/auth/options";
import { publicUrl } from "@/server/platform/settings/env";

export type Page = { status: number; location: URL | null; body: unknown; setCookies: string[] };

type Asked = {
  url: URL;
  cookies: Record<string, string>;
  form?: Record<string, string> | undefined;
  address: string;
};

/** Calls the handlers of `/api/auth` directly, without pages. */
export async function askHandlers({ url, cookies, form, address }: Asked): Promise<Page> {
  const nextauth = url.pathname.replace("/api/auth/", "").split("/");
  const headers = {
    host: new URL(publicUrl).host,
    "user-agent": "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0",
    "x-forwarded-for": address,
  };
  const page: Page = { status: 200, location: null, body: null, setCookies: [] };
  // The parts of a request and response that next-auth's handler uses.
  const request = {
    method: form ? "POST" : "GET",
    query: { ...Object.fromEntries(url.searchParams), nextauth },
    cookies,
    headers,
    body: form ?? {},
  };
  const response = {
    status(status: number) {
      page.status = status;
      return response;
    },
    getHeader: (name: string) => (name === "Set-Cookie" ? page.setCookies : undefined),
    setHeader(name: string, value: string | string[]) {
      if (name === "Set-Cookie" && Array.isArray(value)) page.setCookies = value;
      if (name === "Location") page.location = new URL(String(value), publicUrl);
      return response;
    },
    send(body: unknown) {
      page.body = body;
    },
    json(body: unknown) {
      page.body = body;
    },
    end() {},
  };
  const sent = { headers: new Headers(headers), sessionToken: cookies[SESSION_COOKIE] ?? "" };
  await NextAuth(
    request as unknown as NextApiRequest,
    response as unknown as NextApiResponse,
    authOptions(sent),
  );
  return page;
}

/** Stores the cookies of a response, as a browser does. */
export function keepCookies(jar: Map<string, string>, setCookies: string[]): void {
  for (const line of setCookies) {
    const [pair = "", ...rest] = line.split("; ");
    const [name, value] = [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)];
    const isGone = value === "" || rest.includes("Max-Age=0");
    if (isGone) jar.delete(name);
    else jar.set(name, decodeURIComponent(value));
  }
}

/** A browser that signs in and keeps cookies. */
export function openBrowser(address = "203.0.113.50") {
  const jar = new Map<string, string>();

  async function ask(path: string, form?: Record<string, string>): Promise<Page> {
    const page = await askHandlers({
      url: new URL(path, publicUrl),
      cookies: Object.fromEntries(jar),
      form,
      address,
    });
    keepCookies(jar, page.setCookies);
    return page;
  }

  const post = async (path: string, form: Record<string, string> = {}) => {
    const { body } = await ask("/api/auth/csrf");
    const { csrfToken } = body as { csrfToken: string };
    return ask(path, { callbackUrl: "/docs", ...form, csrfToken });
  };

  return {
    jar,
    ask,
    post,
    /** Goes to the provider; returns the URL to which the provider redirects. */
    async toProvider(id: string): Promise<URL> {
      const { location } = await post(`/api/auth/signin/${id}`);
      const answer = await fetch(location ?? "", { redirect: "manual" });
      return new URL(answer.headers.get("location") ?? "", publicUrl);
    },
    /** Goes to the provider and back. */
    async throughProvider(id: string): Promise<Page> {
      const back = await this.toProvider(id);
      return ask(`${back.pathname}${back.search}`);
    },
    withPassword: (email: string, password: string) =>
      post("/api/auth/callback/credentials", { email, password }),
    withCode: (code: string) => post("/api/auth/callback/code", { code }),
    session: () => claimsOf(jar.get(SESSION_COOKIE) ?? ""),
    pending: () => pendingOf(jar.get(SESSION_COOKIE) ?? "", new Date()),
  };
}
