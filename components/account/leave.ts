import { signOut } from "next-auth/react";

/** Signs this browser out and opens the sign-in page, which shows the reason. */
export async function leave(reason: "out" | "everywhere"): Promise<void> {
  await signOut({ redirect: false });
  window.location.assign(`/sign-in?reason=${reason}`); // a full page load, so no data stays in memory
}
