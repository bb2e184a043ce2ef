; What gets which colour in Python. Names are the themes' own; where two fit, the later one in
; comment, keyword, string, number, function, type, decorator, self wins.
; Of @self only `self` and `cls` are coloured, and a @function that looks like a class becomes a @type.
(comment) @comment
(string) @string
[(integer) (float)] @number
[(true) (false) (none)] @number
["def" "class" "return" "if" "elif" "else" "for" "while" "in" "import" "from" "as" "with" "try" "except" "finally"
 "raise" "lambda" "and" "or" "not" "is" "pass" "break" "continue" "async" "await" "yield" "del" "global" "nonlocal"
 "assert" "match" "case"] @keyword
(function_definition name: (identifier) @function)
(call function: (identifier) @function)
(call function: (attribute attribute: (identifier) @function))
(class_definition name: (identifier) @type)
(type (identifier) @type)
(type (attribute attribute: (identifier) @type))
(type (generic_type (identifier) @type))
(type (subscript (identifier) @type))
(decorator) @decorator
(identifier) @self
