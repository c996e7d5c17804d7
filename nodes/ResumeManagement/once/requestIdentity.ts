import { normalizeEmail } from '../../shared/text';
import type { HttpRequest } from '../http/send';

/**
 * Returns everything that tells a request from others with the same Send Once Key. `Claims` stores
 * its hash in n8n's database, so a change here, also of the order, counts for all keys that were
 * ever sent: their successes are not found, and they are "used before".
 * @param operation path of the operation: a custom request, which its status alone confirms, is no
 *   confirmed upgrade
 */
export function requestIdentity(operation: string, request: HttpRequest): unknown[] {
	const { method, path, query, body, credential } = request;
	const { baseUrl, account } = credential;
	const email = body?.email;
	// Addresses in other letters are one address.
	const compared = typeof email === 'string' ? { ...body, email: normalizeEmail(email) } : body;
	return ['v1', baseUrl, account, operation, method, path, query, compared];
}
