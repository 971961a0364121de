import { signOut } from "next-auth/react";

/** Signs this browser out, and says on the sign-in page why. */
export async function leave(reason: "out" | "everywhere"): Promise<void> {
  await signOut({ redirect: false });
  window.location.assign(`/sign-in?reason=${reason}`); // a whole new page: nothing that was read stays in memory
}
