import { normalize } from "./words";

/**
 * The service never acts in the world on someone's behalf, and such an act cannot be requested. An intent asks for one
 * if it begins with such a verb followed by a thing ("pay my bill"), but not if it uses the noun ("a book cover").
 */
const ACTS =
  "pay|buy|purchase|order|book|reserve|rent|sell|trade|invest|donate|tip|transfer|wire|withdraw|deposit|refund|subscribe|unsubscribe|register|cancel|renew|hire|send|mail|email|forward|post|tweet|publish|call|phone|dial|message|sms|invite|delete|deactivate|close|log|sign|unlock|install|deploy|ship|deliver|vote|apply";
const FOREIGN =
  "kauf|kaufe|kaufen|bezahle|bezahlen|zahle|uberweise|uberweisen|buche|buchen|bestelle|bestellen|schicke|sende|losche|kundige|acheter|achete|payer|paye|reserver|reserve|envoyer|envoie|supprime|commande|comprar|compra|pagar|paga|reservar|reserva|enviar|envia|borra";
const POLITE =
  "(?:please |pls |can you |could you |would you |i want to |i need to |i would like to |i d like to |help me |help me to |go |go and |bitte |je veux |quiero )*";
const THING =
  "(?:a |an |the |my |our |your |his |her |their |me |us |him |this |that |these |those |some |two |three |four |\\d|ein|der |die |das |mir |mein|le |la |les |un |une |mon |ma |mes |el |los |mi |mis )";
const WITH_PREPOSITION =
  "(?:pay|apply|register|vote|donate|subscribe|unsubscribe) (?:for|to|from) |(?:sign|log) (?:up|in|into|out|me) ";
const INTENT = new RegExp(`^ ${POLITE}(?:(?:${ACTS}) ${THING}|${WITH_PREPOSITION}|(?:${FOREIGN}) )`, "u");
/** In "order these by length" the verb means to sort, not to buy. */
const RANKING = /^ (?:\w+ ){0,4}order .*\b(?:by|from|according|ascending|descending|relevance|rank)/u;

export function isActOutside(intent: string): boolean {
  const plain = normalize(intent);
  return INTENT.test(plain) && !RANKING.test(plain);
}

const KEYBOARD = ["qwertyuiop", "asdfghjkl", "zxcvbnm", "qwertzuiop", "yxcvbnm", "azertyuiop"];

/**
 * True if this could be a word of some language. Runs of keys and long runs of consonants are not, and words in
 * other scripts are accepted.
 */
function isReadable(word: string): boolean {
  if (/\d/.test(word) && !/\p{L}{2}/u.test(word)) return /^\d+$/.test(word);
  if (!/^[a-z0-9]+$/.test(word)) return true;
  if (word.length < 2) return false;
  const hasVowel = /[aeiouy]/.test(word);
  if (word.length > (hasVowel ? 3 : 2) && KEYBOARD.some((row) => row.includes(word))) return false;
  return hasVowel ? !/[bcdfghjklmnpqrstvwxz]{6}/.test(word) : word.length <= 4;
}

/**
 * True if the intent has nothing that could be meant. A number has a meaning, because it can be calculated with.
 */
export function isMeaningless(intent: string): boolean {
  return !normalize(intent)
    .trim()
    .split(" ")
    .some((word) => word !== "" && isReadable(word));
}
