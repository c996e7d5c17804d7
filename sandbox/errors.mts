/**
 * An error that the service answers with, inside the error envelope (specification §2). The route
 * decides the HTTP status and whether the code comes bare or as a sentence: see `answerError`.
 */
export class ServiceError extends Error {
	readonly code: string;

	/**
	 * @param code what `errorCode` carries; codes that the specification does not show begin with
	 * `sandbox-`, so that nobody takes them for the service's own
	 * @param message what `errorMessage` carries
	 */
	constructor(code: string, message: string) {
		super(message);
		this.code = code;
	}
}

/** The four errors of plan upgrade, word for word (specification §7.2). */
export const planUpgradeErrors = {
	paymentFailed: () => new ServiceError('plan-upgrade-1', 'stripe error'),
	wrongPlan: () => new ServiceError('plan-upgrade-2', 'wrong plan ID'),
	unauthorizedToken: () => new ServiceError('plan-upgrade-3', 'unauthorized token'),
	tokenType: () => new ServiceError('plan-upgrade-4', 'token type error'),
};

/** What somebody entered cannot be used; the message is a sentence that says what to do about it. */
export class InputError extends Error {}
