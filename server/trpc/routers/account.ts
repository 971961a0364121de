import { z } from "zod";
import {
  Account,
  DecideDevice,
  NewSecondFactor,
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
import { human, router } from "../init";

const Done = z.object({ done: z.literal(true) });
const done = { done: true } as const;

/** A person's own account: their sessions, password, second factor, and device sign-ins to approve. */
export const accountRouter = router({
  read: human.output(Account).query(({ ctx }) => sessions.readAccount(ctx)),
  sessions: human.output(z.array(Session)).query(({ ctx }) => sessions.listSessions(ctx)),
  endSession: human
    .input(SessionRef)
    .output(Done)
    .mutation(async ({ ctx, input }) => {
      await sessions.endSession(ctx, input.sessionId);
      return done;
    }),
  signOutEverywhere: human.output(Done).mutation(async ({ ctx }) => {
    await sessions.signOutEverywhere(ctx);
    return done;
  }),
  changePassword: human
    .input(z.strictObject({ present: z.string().max(1000), next: z.string().max(1000) }))
    .output(Done)
    .mutation(async ({ ctx, input }) => {
      await sessions.changePassword(ctx, input);
      return done;
    }),
  startSecondFactor: human
    .input(StartSecondFactor)
    .output(NewSecondFactor)
    .mutation(({ ctx, input }) => sessions.startSecondFactor(ctx, input.password)),
  confirmSecondFactor: human
    .input(SecondFactorCode)
    .output(RecoveryCodes)
    .mutation(({ ctx, input }) => sessions.confirmSecondFactor(ctx, input.code)),
  turnOffSecondFactor: human
    .input(SecondFactorCode)
    .output(Done)
    .mutation(async ({ ctx, input }) => {
      await sessions.turnOffSecondFactor(ctx, input.code);
      return done;
    }),
  renewRecoveryCodes: human
    .input(SecondFactorCode)
    .output(RecoveryCodes)
    .mutation(({ ctx, input }) => sessions.renewRecoveryCodes(ctx, input.code)),
  unlinkIdentity: human
    .input(UnlinkIdentity)
    .output(Done)
    .mutation(async ({ ctx, input }) => {
      await sessions.unlinkIdentity(ctx, input);
      return done;
    }),
  /** A mutation (POST), because each lookup counts as a guess and codes must not appear in URLs. */
  lookAtDevice: human
    .input(UserCode)
    .output(WaitingDevice)
    .mutation(({ ctx, input }) => sessions.lookAtDevice(ctx, input.userCode)),
  decideDevice: human
    .input(DecideDevice)
    .output(Done)
    .mutation(async ({ ctx, input }) => {
      await sessions.decideDevice(ctx, input);
      return done;
    }),
});
