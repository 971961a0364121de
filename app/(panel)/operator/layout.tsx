import type { ReactNode } from "react";
import { OperatorFrame } from "@/components/operator/operator-frame";
import { findPerson } from "@/server/auth/session";

/** The frame of the operators' rooms. Each page asks for the session, and who may see it, itself. */
export default async function OperatorLayout({ children }: { children: ReactNode }) {
  const person = await findPerson();
  return person ? <OperatorFrame person={person}>{children}</OperatorFrame> : children;
}
