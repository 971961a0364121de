export { handOnMail } from "./dispatch";
export { invitationToken } from "./invitation-link";
export { type Letter, oneLine, shortened } from "./letter";
export { countUnread, list, markRead } from "./list";
export { outbox, outboxMail } from "./outbox";
export { attemptMail, MAIL_WAITS_MS, sendMail } from "./send";
export { type Audience, type News, tell } from "./tell";
export { canWriteLetters, writeInvitation } from "./write-invitation";
