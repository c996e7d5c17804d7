/**
 * A sentence of a failure's advice. `again` advises to send the request again, so it is left out
 * for a write that may have been carried out.
 */
export type Advice = string | { again: string };

/**
 * Texts by the failure's ID, which is public: what happened, and what to do next. A value replaces
 * `{name}`. `npm run docs` writes docs/errors.md from them.
 */
type Texts = Record<string, [message: string, ...advice: Advice[]]>;

const SET_LIST_PATH =
	"Set '{pathOption}' in Options to the place of the list, such as data.users. To see the whole response, use Get Many with 'Simplify' off, without 'Pagination'.";

const SET_FILE_PATH =
	"Set 'File Path' in Options to the place of the file's link, base64 or text, such as data.file.url.";

const REPORTED = 'The service reported: {reported}';

const TRY_LATER = { again: 'Try again later.' };

const LATER = [TRY_LATER, 'If this keeps happening, contact your account manager.'] as const;

const BATCHING =
	"For several items, set 'Batching' in Request Options, on the node's Settings tab. For reads, lower 'Max Parallel Requests' in Options.";

const CHECK_CONNECTION =
	"Check the credential's 'Base URL', and for a proxy or a login page between n8n and the service. If the service itself sent this, contact your account manager.";

const CHECK_EXPRESSION = 'Check its expression.';

const RUN_AGAIN = { again: 'Run it again if it was not meant to be cancelled.' };

/** The workflow or the credential has to be changed. n8n shows each as a NodeOperationError. */
export const SETTING_FAILURES = {
	'write.repeated': [
		'This item is for the same upgrade as item {firstItem}, so it was not sent',
		"Both have the same email and plan, and each would bill. For two purchases, give each a Send Once Key of its own, or switch on 'Allow Repeated Upgrades' in Options. Nothing was sent for this item.",
	],
	'write.tooMany': [
		'The run has {items} items, and at most {most} may be upgraded',
		"Each item bills. If all of them are meant, raise 'Max Upgrades' in Options. Nothing was sent.",
	],

	'credential.baseUrl': [
		"The credential's 'Base URL' can't be used",
		'It must start with https:// (http:// for localhost only), end in a version, such as https://api.example.com/v1, and contain no spaces. Nothing was sent.',
	],
	'credential.privateKey': [
		"The credential's 'Private Key' can't be used",
		'It is empty, or has no character of a key. Paste it again. Nothing was sent.',
	],
	'credential.unreadable': [
		'n8n could not read the credential',
		'Check that the credential exists, and try again. Nothing was sent.',
	],

	'parameter.empty': ["'{field}' is empty", 'Enter a value, or check its expression.'],
	'parameter.noValue': [
		"'{field}' has '{value}' in place of a value",
		'Correct it where it comes from, or check the expression.',
	],
	'parameter.anExpression': [
		"'{field}' has an expression that n8n did not evaluate",
		'Switch the field from Fixed to Expression. If its text comes from the data of the item, correct it there.',
	],
	'parameter.notEvaluated': ["'{field}' could not be evaluated", CHECK_EXPRESSION],
	'parameter.notAnId': [
		"'{field}' is not an ID",
		'Check its expression. An ID is neither "." nor "..", and has no damaged character (U+FFFD).',
	],
	'parameter.notAnEmail': [
		"'{field}' is not an email address",
		'Enter one address without blanks and with a single @, such as nathan@example.com.',
	],
	'parameter.moreThanAnEmail': [
		"'{field}' is more than an email address",
		'It has {excess}, which is not part of an email address. Enter only the address, as its owner writes it.',
	],
	'parameter.invisible': [
		"'{field}' has an invisible character ({code}) {place}",
		'Remove the character where the value comes from, or enter the value by hand. To another system, it would be another value.',
	],
	'parameter.notText': [
		"'{field}' must be text or a number",
		'Check its expression: it may give an object or a list. Add the name of a property at its end.',
	],
	'parameter.digitsLost': [
		"'{field}' holds a number that JavaScript rounds",
		'JavaScript keeps at most 16 digits of a number. Enter the number as text, in quotes. If an expression reads it, its source must hold it as text.',
	],
	'parameter.notABoolean': [
		"'{field}' is neither true nor false",
		'Check its expression: text such as "true" must become a boolean.',
	],
	'parameter.notANumber': ["'{field}' is not a whole number", 'Enter digits only.'],
	'parameter.tooSmall': ["'{field}' must be at least {least}", CHECK_EXPRESSION],
	'parameter.notAChoice': ["'{field}' is not one of {choices}", CHECK_EXPRESSION],
	'parameter.notAHeaderName': [
		"'{field}' is not the name of a header",
		'Enter letters, digits and hyphens, such as X-Webhook-Secret.',
	],
	'parameter.notAPath': [
		"'{field}' is not a path below the 'Base URL'",
		'It has an empty part, such as after a slash at its end, a part "." or "..", a backslash, a #, or a % that is not part of an escape. Write a percent sign as %25.',
	],
	'parameter.isAnAddress': [
		"'{field}' is an address",
		"Enter what follows the 'Base URL', such as /users.",
	],
	'parameter.hasQuery': [
		"'{field}' has a question mark",
		"Put what follows it in 'Query Parameters'.",
	],
	'parameter.notAJsonObject': [
		"'{field}' is not a JSON object",
		'Enter an object in braces, such as {"title": "Engineer"}.',
	],
	'parameter.brokenJson': [
		"'{field}' is not valid JSON {place}",
		'A quotation mark or a line break of an expression can break JSON. In the expression, use JSON.stringify() around the value, without quotation marks around the expression.',
	],
	'parameter.notJson': [
		"'{field}' holds a value that JSON can't express",
		'JSON has text, finite numbers, true, false, null, lists and objects; dates are sent as text. Check its expression.',
	],
	'parameter.notAList': [
		"'{field}' must be a list",
		'Enter the fields one by one, or check its expression.',
	],
	'parameter.unnamedEntry': ["'{field}' has an entry without a name", 'Name it, or remove it.'],
	'parameter.sameName': [
		"'{field}' has two entries named '{name}'",
		'Rename one of them, or remove it.',
	],
	'parameter.notSentInQuery': [
		"'{field}' has an entry named '{name}'",
		"n8n's HTTP client does not send a query parameter of this name. Ask your account manager for another one.",
	],
	'parameter.proxy': [
		"'Proxy' in Request Options is not an http or https URL",
		'Enter it as http://host:port or https://host:port. Write % @ # / ? \\ in a user or password as %25 %40 %23 %2F %3F %5C. Nothing was sent.',
	],
	'parameter.noUser': [
		'No user is named',
		"Enter the user's email address or, if your account manager named another field, add it to the body.",
	],
	'parameter.operation': [
		'This node has no such operation',
		'Choose one of its operations. For another request to the service, choose the resource Custom Request. Nothing was sent.',
	],

	'trigger.noSecret': [
		"The credential's 'Webhook Secret' is empty",
		"Enter it in the credential, or set 'Verification' to None.",
	],
	'trigger.unusableSecret': [
		"The credential's '{field}' can't be used for this 'Verification'",
		'A secret in a header has ASCII characters only. A secret of Standard Webhooks is Base64 of at least 8 bytes, usually after the prefix whsec_.',
	],
	'trigger.invisible': [
		"The credential's '{field}' has an invisible character ({code}) at position {position}",
		'Enter it again without this character. Until then, the trigger accepts no event.',
	],
} satisfies Texts;

/**
 * A request could not be sent, was refused, or has an unusable response. n8n shows each as a
 * NodeApiError.
 */
export const REQUEST_FAILURES = {
	'node.unexpected': [
		'Something unexpected happened in this node',
		'Please report this to the maintainers of this node.',
	],

	'service.error': [
		REPORTED,
		"Check the node's fields, and the credential, against this message. If this keeps happening, contact your account manager.",
	],
	'service.busy': [REPORTED, TRY_LATER, BATCHING],
	'service.paymentFailed': [
		REPORTED,
		"The service's payment provider reported a failure. Contact your account manager before you send this upgrade again.",
	],
	'service.wrongPlan': [REPORTED, 'Use the plan ID exactly as your account manager supplied it.'],
	'service.unauthorized': [
		REPORTED,
		"The credential's 'Private Key' is not authorized. Ask your account manager whether the key is valid, and whether plan upgrades are arranged for your account.",
	],
	'service.wrongTokenType': [
		REPORTED,
		"The credential's 'Private Key' is a token of the wrong type. Enter the private API key.",
	],
	'service.connectFailed': [
		REPORTED,
		"Check 'Email' and the request body, and contact your account manager with the code.",
	],
	'service.rejected': [
		'The service rejected the request (HTTP {status}{page})',
		"Check the node's fields. If this keeps happening, contact your account manager.",
	],
	'service.keyRefused': [
		'The service refused access (HTTP {status}{page})',
		"Check the credential's 'Private Key', and that it belongs to this 'Base URL'. A proxy or a firewall in front of the service may also have refused the request.",
	],
	'service.notFound': [
		'The service has nothing at this address (HTTP {status}{page})',
		"Check the ID or path, if there is one, and the credential's 'Base URL', which ends in the service's version.",
	],
	'service.tooManyRequests': [
		'The service received too many requests (HTTP {status}{page})',
		TRY_LATER,
		BATCHING,
	],
	'service.internalError': ['The service had an internal error (HTTP {status}{page})', ...LATER],
	'service.unavailable': [
		'The service is not available (HTTP {status}{page})',
		TRY_LATER,
		'If n8n connects through a proxy, the proxy may have sent this response. If this keeps happening, contact your account manager.',
	],
	'service.redirect': [
		'The service redirected the request (HTTP {status}{page})',
		"To keep the key safe, the node does not follow redirects. The credential's 'Base URL' must be the final address of the service.",
	],
	'service.unexpectedStatus': ['Expected HTTP 200, got {status}', CHECK_CONNECTION],

	'response.empty': ['The service sent an empty response', ...LATER],
	'response.webPage': ['The response is a web page', CHECK_CONNECTION],
	'response.notJson': ['The response is not JSON', CHECK_CONNECTION],
	'response.tooDeep': [
		'The response is nested too deeply',
		'Node.js reads some thousand levels of JSON. Contact your account manager.',
	],
	'response.tooLong': [
		'The response is longer than {megabytes} MB',
		'The node stopped reading it, to keep n8n responsive.',
		{ again: 'Request less at a time.' },
	],

	'write.unconfirmed': [
		'The service did not confirm the request: {reason}',
		'The service confirms a request with the status "success" and the requested plan or token. If this keeps happening, contact your account manager.',
	],
	'write.stopped': [
		'Not sent, because an earlier item failed: {reason}',
		'Fix the earlier item, or set On Error to Continue.',
	],
	'write.notShown': [
		'The service did what was asked for, but the node could not show its response',
		'Do not send it again. Please report this to the maintainers of this node.',
	],
	'write.unguarded': [
		'Nothing was sent, because the node does not support writes in this version of n8n',
		"The node can't recognize a retry in it, and could send the request twice. Please report the version to the maintainers of this node.",
	],

	'key.notClaimed': [
		'Nothing was sent, because n8n could not store the Send Once Key',
		"Send the item again with the same key when n8n can store it. Its database must be neither full nor read-only. In a tool, the key needs version 3 of n8n's AI Agent.",
	],
	'key.maybeUsed': [
		"Nothing was sent, and n8n's database did not tell whether it stored the Send Once Key",
		"The key may be used up. When the database is back, send the item again with the same key. If the node then says that it was used before, and no other execution has this key, a new key can't bill twice.",
	],
	'key.claimed': [
		'This Send Once Key was used before, so nothing was sent now',
		"Find out what became of the first request with this key: it may be under way, carried out or on hold, or be for another item. If nothing was carried out, send this item alone with a new key, such as one that ends in -2. Do not change the key's expression: earlier items would be sent again.",
	],

	'network.hostUnknown': [
		'The host name of {host} is not known',
		"Check {address}, the proxy, if there is one, and n8n's DNS.",
	],
	'network.notConnected': [
		'Could not connect to {host}',
		'Check {address} and the proxy, if there is one, and that n8n may connect to them.',
	],
	'network.forbidden': [
		'n8n does not allow connections to {host}',
		"n8n's SSRF protection refuses this address. If it is right, have an administrator of n8n add it to N8N_SSRF_ALLOWED_HOSTNAMES or N8N_SSRF_ALLOWED_IP_RANGES.",
	],
	'network.notSecure': [
		'No secure connection to {host} could be made',
		'The certificate of {host} was not accepted, or {host} does not speak TLS. Check {address} and the proxy, if there is one.',
	],
	'network.timeout': [
		'No response from {host} in time',
		TRY_LATER,
		"If the service needs longer, set a longer 'Timeout' in Request Options, on the node's Settings tab. If it happens often, ask your account manager.",
	],
	'network.garbled': [
		'The response from {host} could not be read',
		'It is not valid HTTP, or its compression is damaged. Check for a proxy between n8n and {host}.',
		{ again: 'Then try again.' },
	],
	'network.cancelled': ['The execution was cancelled before {host} responded', RUN_AGAIN],
	'network.notSent': ['The execution was cancelled before the request was sent', RUN_AGAIN],
	'network.lost': ['The connection to {host} was lost before the response was complete', ...LATER],
	'network.proxyRefused': [
		'The proxy refused to connect to the service (HTTP {status})',
		"Check the proxy in Request Options or n8n's environment: its user, its password, and whether it may connect to the service.",
	],

	'list.none': ['The response has no list', SET_LIST_PATH],
	'list.several': ['The response has more than one list', SET_LIST_PATH],
	'list.notAtPath': ["The response has no list at '{path}'", SET_LIST_PATH],
	'list.incomplete': [
		'The list is not complete',
		"Records that came: {count}. The response shows that there are more. Add '{option}' in Options to read all pages, or check its settings. The list may also have changed while it was read.",
	],
	'list.tooManyPages': [
		"The list did not end within 'Max Pages' ({pages})",
		"To get the whole list, set a higher 'Max Pages' in 'Pagination'. To get a part of it, use Get Many with a 'Limit'.",
	],
	'list.samePage': [
		'The service sent the same page again',
		"{what} Check 'Advance By' and 'Parameter Name' in 'Pagination': the service may not know the parameter. If the list has one page, remove 'Pagination'.",
	],
	'list.sameId': [
		'Different records of one page have the same ID',
		"The node can't combine such pages. Remove 'Pagination', and ask your account manager which property identifies a record.",
	],
	'list.noCursor': [
		"The response has no cursor at '{path}'",
		"The value there must be text or a number. Check 'Cursor Path' in 'Pagination'.",
	],

	'file.none': ['The response has no file', SET_FILE_PATH],
	'file.several': ['The response has more than one file', SET_FILE_PATH],
	'file.notAtPath': ["The response has no file at '{path}'", SET_FILE_PATH],
	'file.isText': [
		'The response from {host} is not a file',
		"It is empty or text, or is declared as a PDF but does not begin as one. Text is a file only if it is sent as an attachment, or if 'File Path' in Options leads to it and it is not a web page. Ask your account manager.",
	],
	'file.badLink': [
		"The file's link can't be followed",
		'It is not a complete http or https address, or redirects too often. Ask your account manager.',
	],
	'file.linkHoldsKey': [
		"The file's link holds a secret of the credential",
		'To keep the secret safe, the node did not follow the link. Ask your account manager for links without it.',
	],
	'file.notSent': [
		"The file's host sent no file (HTTP {status})",
		'The link may have expired. Try again later. If this keeps happening, ask your account manager.',
	],
	'file.holdsSecret': [
		'The file holds a secret of the credential',
		'To keep the secret safe, the node did not store the file. Ask your account manager for files without it.',
	],
	'file.compressed': [
		'The file arrived compressed ({encoding})',
		"n8n can't unpack it, so the node did not store it. Ask your account manager for files without this Content-Encoding.",
	],
	'file.notStored': [
		"The file could not be put into n8n's binary store",
		'Check the free space of the disk or database that n8n keeps files in.',
	],

	'user.notFound': [
		'No user has this email address',
		"The list has {users} users and {emails} email addresses. Check the address, or add 'Users Pagination' in Options if the list has pages. Nothing was changed for this item.",
	],
	'user.several': [
		'Several users have this email address',
		"The list has {count} of them, with the IDs {ids}. Switch 'User' to By ID, and enter the ID of the right one. Nothing was changed for this item.",
	],
	'user.withoutId': [
		'The user with this email address has no ID in the list',
		"The user has none of the properties {properties}, or several with different IDs, or an ID that can't be part of a path. Switch 'User' to By ID, and enter the ID. Nothing was changed for this item.",
	],
	'user.listUnreadable': [
		'The list of users could not be read: {reason}',
		'{advice} Nothing was changed for this item.',
	],

	'picker.noUser': [
		'No user is picked',
		"Pick a user in 'Resumes of User' first, or enter the resume's ID.",
	],
	'picker.none': [
		'The service returned no {list}',
		"There may be none yet. Otherwise, check that the credential's 'Private Key' belongs to the right account.",
	],
	'picker.noList': [
		'The response has no list of {list}',
		'The response has the properties: {names}. Switch this field to By ID, and enter the ID.',
	],
	'picker.withoutIds': [
		'The {list} in the response have no ID',
		'They have none of the properties {properties}, or several with different IDs. The first record has the properties: {names}. Switch this field to By ID, and enter the ID.',
	],
} satisfies Texts;
