export { handOnMail } from "./dispatch";
export { type Letter, oneLine, shortened } from "./letter";
export { attemptMail, MAIL_WAITS_MS, sendMail } from "./send";
export { type Audience, type News, tell } from "./tell";
