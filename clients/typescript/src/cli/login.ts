import { createClient } from "../client";
import { CapstanError } from "../errors";
import { machineName, signInDevice } from "./device";
import { readInput } from "./input";
import { chooseProject, projectsForKeys } from "./projects";
import {
  type Common,
  commandSettings,
  forgetSettings,
  readSaved,
  type Saved,
  save,
  settingsFile,
} from "./settings";
import { Ended, EXIT_CODES, type Terminal, UsageError } from "./terminal";

export type LoginOptions = Common & { apiKey?: string; environment?: string; expiresInDays?: string };

const DAY_SECONDS = 86_400;

/**
 * Signs this machine in: a person approves the login in a browser, then a key of one project is created for other commands.
 * With `apiKey`, an existing key is saved instead.
 */
export async function login(terminal: Terminal, options: LoginOptions): Promise<void> {
  const { baseUrl } = commandSettings(options);
  if (options.apiKey !== undefined) return loginWithKey(terminal, options, baseUrl);
  const expiresInSeconds = daysOf(options.expiresInDays ?? "90") * DAY_SECONDS;
  const { sessionToken, sessionId, principalId, expiresAt } = await signInDevice(terminal, baseUrl);
  const begun: Saved & { baseUrl: string } = {
    baseUrl,
    sessionToken,
    sessionId,
    principalId,
    sessionEndsAt: expiresAt,
  };
  const earlier = readSaved();
  const { project, key } = await keyFor(terminal, begun, { ...options, expiresInSeconds }).catch(
    async (error) => {
      await endLogin(begun); // without a saved key, nothing could use or end the session later
      throw error;
    },
  );
  tellLeft(terminal, (await endLogin(earlier)).left);
  const { keyId, environment } = key;
  const { account } = begun;
  const said = { baseUrl, principalId, account, sessionId, projectId: project.id, environment, keyId };
  terminal.answer(
    { ...said, expiresAt: key.expiresAt, savedIn: settingsFile() },
    `Signed in as ${account}; a key of ${project.displayName} (${environment}) was saved in ${settingsFile()}. It expires at ${key.expiresAt}.`,
  );
  if (process.env.CAPSTAN_API_KEY)
    terminal.note("CAPSTAN_API_KEY is set and takes precedence over the saved key.");
}

/** Creates a key of a project with the login's session, and saves both. */
async function keyFor(
  terminal: Terminal,
  login: Saved & { baseUrl: string },
  options: LoginOptions & { expiresInSeconds: number },
) {
  const person = createClient({ baseUrl: login.baseUrl, apiKey: login.sessionToken });
  login.account = (await person.get("/v1/session/context")).identity.account;
  const project = await chooseProject(terminal, await projectsForKeys(person), options.project);
  const active = project.environments.filter(({ status }) => status === "active");
  const usual = active.find(({ slug }) => slug === "development") ?? active[0];
  const environment = options.environment ?? usual?.slug ?? "development";
  const { expiresInSeconds } = options;
  const body = { name: machineName(), projectId: project.id, environment, expiresInSeconds };
  const key = await person.post("/v1/api-keys", { body });
  Object.assign(login, { apiKey: key.apiKey, keyId: key.keyId, projectId: project.id });
  save(login);
  return { project, key };
}

function daysOf(text: string): number {
  const days = Number(text);
  if (Number.isInteger(days) && days >= 1 && days <= 3_650) return days;
  throw new UsageError("--expires-in-days must be a number of days from 1 to 3650.");
}

/** Saves an existing key. It is read from standard input, because other processes can read arguments. */
async function loginWithKey(terminal: Terminal, options: LoginOptions, baseUrl: string): Promise<void> {
  if (options.apiKey !== "-")
    throw new UsageError("Pass the key on standard input: capstan login --api-key - < key.txt");
  const apiKey = (await readInput("-")).trim();
  if (apiKey === "")
    throw new UsageError("Standard input is empty. Pass the key on it: capstan login --api-key - < key.txt");
  const { principalId, projectId: bound } = await createClient({ baseUrl, apiKey }).get(
    "/v1/diagnostics/session",
  );
  const projectId = bound ?? options.project;
  const earlier = readSaved();
  save({ baseUrl, apiKey, principalId, ...(projectId ? { projectId } : {}) });
  tellLeft(terminal, (await endLogin(earlier)).left);
  terminal.answer(
    { baseUrl, principalId, projectId: projectId ?? null, savedIn: settingsFile() },
    `The key is valid and was saved in ${settingsFile()}.`,
  );
}

/** Undoes `login`: revokes the key that it created, ends the session, and removes the file. */
export async function logout(terminal: Terminal): Promise<void> {
  const { revoked, left } = await endLogin(savedOrNothing());
  forgetSettings();
  terminal.answer({ signedOut: true, revoked, left }, "Signed out.");
  tellLeft(terminal, left);
  if (left.length > 0) throw new Ended(EXIT_CODES.unavailable);
}

function savedOrNothing(): Saved {
  try {
    return readSaved();
  } catch {
    return {}; // the file is removed in any case
  }
}

const tellLeft = (terminal: Terminal, left: string[]) =>
  left.length > 0 &&
  terminal.note(`Could not revoke ${left.join(" and ")} at the service. Revoke it in the panel.`);

/** Revokes the login's key, authenticated with that key, and ends its session. Expired ones need no action. */
async function endLogin({ baseUrl, apiKey, keyId, sessionToken, sessionId }: Saved) {
  const ended = { revoked: [] as string[], left: [] as string[] };
  const end = async (id: string, work: () => Promise<unknown>) => {
    try {
      await work();
      ended.revoked.push(id);
    } catch (error) {
      const isGone = error instanceof CapstanError && (error.status === 401 || error.status === 404);
      if (!isGone) ended.left.push(id);
    }
  };
  if (baseUrl && apiKey && keyId) {
    const params = { path: { key_id: keyId } };
    await end(keyId, () =>
      createClient({ baseUrl, apiKey }).post("/v1/api-keys/{key_id}/revoke", { params }),
    );
  }
  if (baseUrl && sessionToken && sessionId) {
    const params = { path: { session_id: sessionId } };
    const person = { baseUrl, apiKey: sessionToken };
    await end(sessionId, () => createClient(person).delete("/v1/auth/sessions/{session_id}", { params }));
  }
  return ended;
}
