#include <tenon/extern.h>
TENON_EXTERN_AS(approve, "(String) -> String") {
  const tenon_text who = tenon_input(call);
  if (who.data == NULL) {
    tenon_pause_for_input(call, "Who approves?");
  } else if (who.length == 0) {
    tenon_pause_for_input(call, "Really, who?");
  } else {
    tenon_put_text(call, tenon_result(call), who.data, who.length);
  }
}
