# native_step.sh LOG SECONDS COMMAND…: runs the command with its output in LOG, and prints the log's last line every so many seconds: for
# Ninja, how many of its steps are done. Ends with the command's code.
log=$1 seconds=$2 columns_max=110
shift 2

# It ends by itself if this process is killed.
report() {
  passed=0
  while sleep "$seconds" >/dev/null 2>&1 && kill -0 $$ 2>/dev/null; do
    passed=$((passed + seconds))
    echo "   $passed s: $(tail -n 1 "$log" | cut -c "1-$columns_max")"
  done
}

: >"$log"
report &
reporter=$!
trap 'kill "$reporter" 2>/dev/null' EXIT
trap 'exit 130' INT TERM
"$@" >"$log" 2>&1
