import { createClient } from "../client";
import { baseOf } from "../transport";
import { readInput } from "./input";
import { type Common, forget, save, settingsFile, settingsOf } from "./settings";
import { type Terminal, UsageError } from "./terminal";

export type LoginOptions = Common & { apiKey?: string };

/** Keeps a key for the other commands. */
export async function login(terminal: Terminal, options: LoginOptions): Promise<void> {
  const { baseUrl } = settingsOf(options);
  return loginWithKey(terminal, options, baseUrl);
}

/** Keeps a key that was made elsewhere. It comes by standard input: what is in arguments others can read. */
async function loginWithKey(terminal: Terminal, options: LoginOptions, baseUrl: string): Promise<void> {
  if (options.apiKey !== "-")
    throw new UsageError("A key is read from standard input: capstan login --api-key - < key.txt");
  const apiKey = (await readInput("-")).trim();
  if (apiKey === "") throw new UsageError("Standard input held no key.");
  const session = await createClient({ baseUrl, apiKey }).get("/v1/diagnostics/session");
  const projectId = session.projectId ?? options.project;
  save({
    baseUrl: baseOf(baseUrl),
    apiKey,
    principalId: session.principalId,
    ...(projectId ? { projectId } : {}),
  });
  terminal.answer(
    { baseUrl, principalId: session.principalId, projectId: projectId ?? null, savedIn: settingsFile() },
    `The key is good and saved in ${settingsFile()}.`,
  );
}

/** Removes what `login` saved. */
export async function logout(terminal: Terminal): Promise<void> {
  forget();
  terminal.answer({ signedOut: true, revoked: [] }, "Signed out.");
}
