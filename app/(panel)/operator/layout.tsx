import type { ReactNode } from "react";
import { OperatorFrame } from "@/components/operator/operator-frame";
import { findPerson } from "@/server/auth/session";

/** The frame of the operator pages. Each page checks the session and the right to see it. */
export default async function OperatorLayout({ children }: { children: ReactNode }) {
  const person = await findPerson();
  return person ? <OperatorFrame person={person}>{children}</OperatorFrame> : children;
}
