import { z } from "zod";
import type { ProviderAccount } from "../define";
import { getJson, parseReply } from "../http";
import { explainOpenAiError } from "./common";

/** Lists the account's models: needs the key, changes nothing and costs nothing. */
export async function check(account: ProviderAccount): Promise<void> {
  const sent = { authorization: `Bearer ${account.credentials.apiKey?.reveal() ?? ""}` };
  const reply = await getJson("/models", sent, account, { explain: explainOpenAiError });
  parseReply(z.object({ data: z.array(z.unknown()) }), reply, account);
}
