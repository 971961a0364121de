import { ValidationFault } from "@/server/platform/errors/errors";
import { refusalOfAddress } from "@/server/platform/http";
import { env, isProduction } from "@/server/platform/settings/env";

/** Where events may be posted to in this installation. */
export const addressRules = () => ({
  allowHttp: !isProduction,
  allowPrivateAddresses: env.ALLOW_PRIVATE_ADDRESSES,
});

/** The URL as it is kept. Refuses, on the field `url`, what would never be sent to; names are resolved when it is sent. */
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
