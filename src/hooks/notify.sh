#!/bin/sh
# Tells a Millrace server that the repository around this folder got something. The hooks of the repository call it;
# `millrace hook install` wrote it, and what it has to know stands beside it.
#
#   notify svn REV TXN   a commit to a Subversion repository
#   notify git           a branch may have moved
#   notify flush         send what could not be sent before; prints how many files were sent and how many are left
#   notify check         ask the server who the token is; prints the status of its answer and what sent the question
#
# It needs a POSIX shell and one of curl, GNU wget, perl or bash, and nothing of the environment. Before it returns, the
# notice lies in a file; another process sends it, so that nobody waits. A notice is a hint that may come late, twice or
# never: the server looks at the repository itself. Whatever goes wrong here, the commit stands.

LC_ALL=C
export LC_ALL
unset CDPATH GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_PREFIX GIT_OBJECT_DIRECTORY
unset GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_QUARANTINE_PATH
trap '' HUP
# The caller may wait until nobody holds what it opened.
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
cd "${0%/*}" || exit 0
. ./settings || exit 0
PATH=$path
export PATH
umask "$mask"

# Asks for the path $1, with the file $2 as the body of a POST where one is given. Prints the status of the answer, 000
# where none came, and what sent it. The token is never an argument: those are seen by everybody on the host.
ask() {
  token=
  read -r token <token
  for sender in curl wget perl bash; do
    command -v "$sender" >/dev/null 2>&1 || continue
    case $scheme:$sender in https:perl | https:bash) continue ;; esac
    status=$("ask_$sender" "$1" "$2")
    # One that is there and says nothing does not work: try the next.
    case $status in
    [0-5][0-9][0-9])
      echo "$status $sender"
      return
      ;;
    esac
  done
  echo '000 nothing'
}

ask_curl() {
  {
    printf 'header = "Authorization: Bearer %s"\n' "$token"
    [ -z "$2" ] || printf 'header = "Content-Type: application/json"\ndata-binary = "@%s"\n' "$2"
    printf 'url = "%s"\n' "$base$1"
  } | curl -q -s --globoff --connect-timeout 5 --max-time 15 -o /dev/null -w '%{http_code}' -K - 2>/dev/null
}

ask_wget() {
  wget --version 2>/dev/null | grep -q 'GNU Wget' || return
  {
    printf 'header = Authorization: Bearer %s\n' "$token"
    [ -z "$2" ] || printf 'header = Content-Type: application/json\n'
  } >".wgetrc.$$" || return
  answer=$(wget "--config=.wgetrc.$$" -nv -S --tries=1 --timeout=15 --max-redirect=0 -O /dev/null \
    ${2:+"--post-file=$2"} "$base$1" 2>&1 | sed -n 's|^ *HTTP/[0-9.]* \([0-9][0-9][0-9]\).*|\1|p' | tail -n 1)
  rm -f ".wgetrc.$$"
  echo "${answer:-000}"
}

# The rest knows plain HTTP only.
ask_perl() {
  printf '%s\n' "$token" | perl -e '
    use strict;
    my ($host, $port, $target, $file) = @ARGV;
    chomp(my $token = <STDIN>);
    local $SIG{ALRM} = sub { print "000"; exit };
    alarm 15;
    my $class = eval { require IO::Socket::IP; 1 } ? "IO::Socket::IP" : "IO::Socket::INET";
    eval "require $class" or exit;
    my $socket = $class->new(PeerAddr => $host, PeerPort => $port, Proto => "tcp", Timeout => 5);
    if (!$socket) { print "000"; exit }
    my $body = "";
    if ($file ne "") { open(my $in, "<", $file) or exit; local $/; $body = <$in> }
    my $name = $host =~ /:/ ? "[$host]" : $host;
    my $head = $file eq "" ? "GET $target HTTP/1.1\r\n"
      : "POST $target HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: " . length($body) . "\r\n";
    print $socket $head, "Host: $name:$port\r\nAuthorization: Bearer $token\r\nConnection: close\r\n\r\n", $body;
    $socket->flush;
    my $line = <$socket>;
    print defined($line) && $line =~ m{^HTTP/\S+ (\d\d\d)} ? $1 : "000";
  ' "$host" "$port" "$prefix$1" "$2" 2>/dev/null
}

ask_bash() {
  printf '%s\n' "$token" | bash -c '
    read -r token
    exec 3<>"/dev/tcp/$1/$2" || { echo 000; exit; }
    name=$1
    case $name in *:*) name="[$name]" ;; esac
    body=
    head="GET $3"
    if [ -n "$4" ]; then
      body=$(<"$4")
      head="POST $3"
    fi
    {
      printf "%s HTTP/1.1\r\nHost: %s\r\n" "$head" "$name:$2"
      printf "Authorization: Bearer %s\r\nConnection: close\r\n" "$token"
      [ -z "$4" ] || printf "Content-Type: application/json\r\nContent-Length: %s\r\n" "${#body}"
      printf "\r\n%s" "$body"
    } >&3
    status=
    read -r -t 15 _ status _ <&3
    echo "${status:-000}"
  ' bash "$host" "$port" "$prefix$1" "$2" 2>/dev/null
}

# Puts a notice where it is found again: the name $1 tells the order, $2 is what the server gets.
store() {
  printf '%s\n' "$2" >"spool/.$1.$$" && mv -f "spool/.$1.$$" "spool/$1"
}

# Sends the stored notice $1, under a name of its own: another process may have sent it meanwhile and removed it. What
# the server will never take is not kept.
deliver() {
  ln "spool/$1" "spool/.sending.$$" 2>/dev/null || return 0
  answer=$(ask "/v1/archives/$archive/commits" "spool/.sending.$$")
  rm -f "spool/.sending.$$"
  printf '%s %s %s\n' "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$answer" "$1" >".last.$$" && mv -f ".last.$$" last
  case $answer in
  2*)
    rm -f "spool/$1"
    sent=$((sent + 1))
    ;;
  400* | 409* | 413* | 415* | 422*)
    rm -f "spool/$1"
    return 1
    ;;
  *) return 1 ;;
  esac
}

# Sends all that is stored, the oldest first, until one is not taken. One process does it at a time; should two do it
# all the same, the server hears something twice.
flush() {
  if ! ln -s "$$" lock 2>/dev/null; then
    holder=$(readlink lock) && kill -0 "$holder" 2>/dev/null && return
    rm -f lock
    ln -s "$$" lock 2>/dev/null || return
  fi
  for file in spool/*; do
    [ -f "$file" ] || continue
    deliver "${file#spool/}" || break
  done
  rm -f lock
}

# A server that is away for long shall not fill the disk: the newest notices say all.
prune() {
  ls spool | sort -r | tail -n +1001 | while read -r old; do rm -f "spool/$old"; done
}

# Goes on without the caller.
send_later() {
  /bin/sh ./notify send "$1" </dev/null >/dev/null 2>&1 &
}

# A copy of the repository is not the repository: it announces nothing.
is_copy() {
  set -- $(ls -di .)
  [ "$1" != "$inode" ]
}

sent=0
case $1 in
svn)
  ! is_copy || exit 0
  case $2 in '' | *[!0-9]* | 0*) exit 0 ;; esac
  case $3 in
  '' | *[!0-9a-z-]*) body="{\"rev\":$2}" ;;
  *) body="{\"rev\":$2,\"txn\":\"$3\"}" ;;
  esac
  name=$(printf %015d "$2")
  store "$name" "$body"
  send_later "$name"
  ;;
git)
  ! is_copy || exit 0
  tip=$(git --git-dir=../.. rev-parse --quiet --verify "refs/heads/$branch^{commit}" 2>/dev/null) || exit 0
  announced=
  [ ! -f announced ] || read -r announced <announced
  [ "$tip" != "$announced" ] || exit 0
  name=$(date -u +%Y%m%d%H%M%S)-$tip
  store "$name" "{\"rev\":\"$tip\"}" && printf '%s\n' "$tip" >".announced.$$" && mv -f ".announced.$$" announced
  send_later "$name"
  ;;
send)
  # Others may have waited longer, but a server that takes this one takes them next.
  if deliver "$2"; then flush; else prune; fi
  ;;
flush)
  flush
  set -- spool/*
  [ -f "$1" ] || set --
  echo "$sent $#"
  ;;
check) ask /v1/me '' ;;
esac
exit 0
