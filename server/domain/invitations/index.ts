export { acceptInvitation, lookAtInvitation } from "./accept";
export { invitationsOf, invite, resendInvitation, withdrawInvitation } from "./invite";
