import { ValidationFault } from "@/server/platform/errors/errors";
import { refusalOfAddress } from "@/server/platform/http";
import { env, isProduction } from "@/server/platform/settings/env";

/** The rules for addresses that this installation may post events to. */
export const addressRules = () => ({
  allowHttp: !isProduction,
  allowPrivateAddresses: env.ALLOW_PRIVATE_ADDRESSES,
});

/**
 * Returns the URL as it is stored, without its fragment. Throws a `ValidationFault` on the field `url` for a URL that
 * would never be sent to. A host name is not resolved until a delivery is sent.
 */
export function checkedUrl(text: string, rules = addressRules()): string {
  const refuse = (message: string): never => {
    throw new ValidationFault([{ loc: ["body", "url"], msg: message, type: "url_refused" }]);
  };
  if (!URL.canParse(text)) return refuse("This is not a valid URL.");
  const url = new URL(text);
  url.hash = "";
  const refusal = refusalOfAddress(url, rules);
  return refusal ? refuse(refusal) : url.href;
}
