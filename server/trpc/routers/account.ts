import { z } from "zod";
import {
  DecideDevice,
  NewSecondFactor,
  OwnAccount,
  RecoveryCodes,
  SecondFactorCode,
  Session,
  SessionRef,
  StartSecondFactor,
  UnlinkIdentity,
  UserCode,
  WaitingDevice,
} from "@/server/contract/sessions";
import * as sessions from "@/server/domain/sessions";
import { router } from "../init";
import { acts, does, Nothing, reads } from "../of";

/** A person's own account: their sessions, password, second factor, and device sign-ins to approve. */
export const accountRouter = router({
  read: reads(Nothing, OwnAccount, sessions.readAccount),
  sessions: reads(Nothing, z.array(Session), sessions.listSessions),
  endSession: acts(SessionRef, (ctx, input) => sessions.endSession(ctx, input.sessionId)),
  signOutEverywhere: acts(Nothing, sessions.signOutEverywhere),
  changePassword: acts(
    z.strictObject({ present: z.string().max(1000), next: z.string().max(1000) }),
    sessions.changePassword,
  ),
  startSecondFactor: does(StartSecondFactor, NewSecondFactor, (ctx, input) =>
    sessions.startSecondFactor(ctx, input.password),
  ),
  confirmSecondFactor: does(SecondFactorCode, RecoveryCodes, (ctx, input) =>
    sessions.confirmSecondFactor(ctx, input.code),
  ),
  turnOffSecondFactor: acts(SecondFactorCode, (ctx, input) => sessions.turnOffSecondFactor(ctx, input.code)),
  renewRecoveryCodes: does(SecondFactorCode, RecoveryCodes, (ctx, input) =>
    sessions.renewRecoveryCodes(ctx, input.code),
  ),
  unlinkIdentity: acts(UnlinkIdentity, sessions.unlinkIdentity),
  /** A mutation (POST), because each lookup counts as a guess and codes must not appear in URLs. */
  lookAtDevice: does(UserCode, WaitingDevice, (ctx, input) => sessions.lookAtDevice(ctx, input.userCode)),
  decideDevice: acts(DecideDevice, sessions.decideDevice),
});
